// The step of a member whose messages are lists of pieces: what it sends, and which of its peers' messages it awaits.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "core/ports/collective_algorithm.h"

namespace ringwright::collectives {

struct PieceMessage {
  int peer = 0;
  bool reduce = false;
  std::vector<int> pieces;
  MessageNics nics = {};
};

// All pieces of a step that go to one peer in one direction by the same NICs are one message.
inline void add_to_messages(std::vector<PieceMessage>& messages, PieceMessage added) {
  const auto same = std::ranges::find_if(messages, [&](const PieceMessage& one) {
    return one.peer == added.peer && one.reduce == added.reduce && one.nics == added.nics;
  });
  if (same == messages.end()) return messages.push_back(std::move(added));
  same->pieces.insert(same->pieces.end(), added.pieces.begin(), added.pieces.end());
}

// Peers of a step, each once.
inline void add_peer(std::vector<int>& peers, int peer) {
  if (peer >= 0 && std::ranges::find(peers, peer) == peers.end()) peers.push_back(peer);
}

// Of the messages of one member to another, by their numbers among all that it sends.
struct MemberPair {
  int from = 0;
  int to = 0;
};
template <class Messages>
void await_messages(const Messages& sent, const MemberPair& members, CollectiveStep& out) {
  int number = 0;
  for (const auto& message : sent) {
    if (message.peer == members.to) out.awaits.push_back({.peer = members.from, .send = number});
    ++number;
  }
}

// `messages_of(m)`: all that member m sends in the step; `senders`: whose may be to this member; `size_of(piece)`.
template <class MessagesOf, class SizeOf>
void fill_step(int member, const std::vector<int>& senders, const MessagesOf& messages_of, const SizeOf& size_of,
               CollectiveStep& out) {
  for (const PieceMessage& message : messages_of(member)) {
    Bytes size;
    for (const int piece : message.pieces) size += size_of(piece);
    out.sends.push_back({.peer = message.peer, .size = size, .nics = message.nics});
  }
  for (const int peer : senders) await_messages(messages_of(peer), {.from = peer, .to = member}, out);
}

}  // namespace ringwright::collectives
