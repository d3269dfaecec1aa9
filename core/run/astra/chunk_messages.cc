// Messages between chunks: what is sent is received when it has arrived and its receiver waits for it.
//
// With the rendezvous protocol a receiver that starts to wait sends a control message first; data leave when it has
// arrived, and the receiver waits for them from that moment.
#include "core/base/check.h"
#include "core/run/astra/chunk_streams.h"

namespace ringwright {
namespace {

constexpr std::int64_t kControlBytes = 8192;

}  // namespace

void ChunkStreams::send_later(std::uint32_t from_chunk, std::uint32_t to, const InFlight& what) {
  std::uint32_t index = free_message_;
  if (index == kNoChunk) {
    index = static_cast<std::uint32_t>(messages_.size());
    messages_.emplace_back();
  } else {
    free_message_ = messages_[index].to_chunk;
  }
  messages_[index] = what;
  const ChunkState& from = chunks_[from_chunk];
  const OpenCollective& open = open_[from.collective];
  // A folded collective has one rank; its network knows the others by their positions.
  const bool by_position = open.folded || open.members.empty();
  around_.network.send({.from = by_position ? from.position : open.members[from.position],
                        .to = by_position ? to : open.members[to],
                        .bytes = what.bytes,
                        .token = message_token(MessageOwner::kChunk, index)});
}

void ChunkStreams::send(std::uint32_t chunk, const PhasePeers& peers, std::int64_t bytes) {
  const ChunkState& state = chunks_[chunk];
  if (rules_.rendezvous) {
    Rendezvous& with = rendezvous_[{chunk, peers.to}];
    if (with.controls == 0) {
      with.wanted.push_back(bytes);
      return;
    }
    if (--with.controls == 0) rendezvous_.erase({chunk, peers.to});
  }
  // A folded rank knows the sender of what it receives as the one from which this step receives.
  const std::uint32_t sender = open_[state.collective].folded ? peers.from : state.position;
  send_later(chunk, peers.to, {.to_chunk = chunk_at(state, peers.to), .sender = sender, .bytes = bytes});
}

void ChunkStreams::receive(std::uint32_t chunk, std::uint32_t from) {
  if (!rules_.rendezvous) {
    wait(chunk, from);
    return;
  }
  const ChunkState& state = chunks_[chunk];
  send_later(
      chunk, from,
      {.to_chunk = chunk_at(state, from), .sender = state.position, .control_for = chunk, .bytes = kControlBytes});
}

void ChunkStreams::wait(std::uint32_t chunk, std::uint32_t from) {
  ChunkState& state = chunks_[chunk];
  const ChunkPhase& phase = phase_of(state);
  const bool one_at_a_time = phase.shape == PhaseShape::kWindow && phase.window == 1;
  if (one_at_a_time ? counts_.take(chunk, from) : counts_.wait(chunk, from)) {
    around_.queue.after(0, job_event(JobEvent::kLateMessage, chunk));
  } else if (one_at_a_time) {
    state.waits_for = from;
  }
}

void ChunkStreams::on_control(const InFlight& control) {
  wait(control.control_for, chunks_[control.to_chunk].position);
  const auto key = std::pair(control.to_chunk, control.sender);
  Rendezvous& with = rendezvous_[key];
  if (with.wanted.empty()) {
    ++with.controls;
    return;
  }
  const std::int64_t bytes = with.wanted.front();
  with.wanted.erase(with.wanted.begin());
  if (with.wanted.empty()) rendezvous_.erase(key);
  send_later(control.to_chunk, control.sender,
                 {.to_chunk = control.control_for, .sender = chunks_[control.to_chunk].position, .bytes = bytes});
}

void ChunkStreams::on_arrival(std::uint32_t token) {
  const std::uint32_t index = token >> 1U;
  const InFlight message = messages_[index];
  messages_[index].to_chunk = free_message_;
  free_message_ = index;
  if (message.control_for != kNoChunk) {
    on_control(message);
    return;
  }
  ChunkState& state = chunks_[message.to_chunk];
  if (state.waits_for == message.sender) {
    state.waits_for = kNoPosition;
    on_message(message.to_chunk);
  } else if (counts_.arrive(message.to_chunk, message.sender)) {
    on_message(message.to_chunk);
  }
}

}  // namespace ringwright
