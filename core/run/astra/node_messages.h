// Messages between nodes of ranks' graphs: a send and a receive meet by tag, ranks and size, the first with the first.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "core/run/astra/event_kinds.h"

namespace ringwright {

class MessageNetwork;

struct NodeMessage {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t tag = 0;
  std::uint32_t graph = kNoGraph;  // messages within a collective meet only there: its chunk in the sender's numbering
  std::int64_t bytes = 0;
  static constexpr std::uint32_t kNoGraph = UINT32_MAX;

  friend auto operator<=>(const NodeMessage&, const NodeMessage&) = default;
};

class NodeMessages {
 public:
  // Who waits for it is passed to on_done: a node, as the caller numbers them.
  NodeMessages(MessageNetwork& network, bool rendezvous) : network_(network), rendezvous_(rendezvous) {}

  void send(const NodeMessage& message, std::uint64_t node);
  // True: the message had arrived, and the receive is done now.
  [[nodiscard]] bool receive(const NodeMessage& message, std::uint64_t node);

  struct Arrival {
    std::optional<std::uint64_t> sent = {};      // the node whose send is done
    std::optional<std::uint64_t> received = {};  // the node whose receive is done
  };
  [[nodiscard]] Arrival on_arrival(std::uint32_t token);

  // Receives that wait, in order of ranks.
  struct Waiting {
    NodeMessage message;
    std::uint64_t node = 0;
  };
  [[nodiscard]] std::vector<Waiting> waiting_receives() const;
  [[nodiscard]] std::vector<Waiting> waiting_sends() const;  // for a control message

 private:
  struct Match {
    std::deque<std::uint64_t> receivers;  // nodes that wait
    std::uint32_t arrived = 0;            // messages that nobody has waited for
    std::deque<std::uint64_t> senders;    // that wait for a control message
    std::uint32_t controls = 0;           // that no send has waited for
    [[nodiscard]] bool empty() const { return receivers.empty() && arrived == 0 && senders.empty() && controls == 0; }
  };
  struct InFlight {
    NodeMessage message;
    std::uint64_t node = 0;  // the sender; of a control message, the receiver
    bool is_control = false;
    std::uint32_t next_free = 0;
  };
  using Matches = std::map<NodeMessage, Match>;

  void send_later(const NodeMessage& message, std::uint64_t node, bool is_control);
  [[nodiscard]] bool wait(const NodeMessage& message, std::uint64_t node);

  MessageNetwork& network_;
  bool rendezvous_;
  Matches matches_;
  std::vector<InFlight> in_flight_;
  std::uint32_t free_ = UINT32_MAX;
};

}  // namespace ringwright
