// The port for networks that move whole messages on a clock of ticks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/ticks.h"
#include "core/plan/chunked_collective.h"

namespace ringwright {

class TickQueue;

struct NetworkMessage {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::int64_t bytes = 0;
  std::uint32_t token = 0;  // index of the event of its arrival
};

// The kinds of events that a network may schedule.
struct NetworkEvents {
  std::uint32_t arrival = 0;   // a message has arrived; the index is its token
  std::uint32_t internal = 0;  // for MessageNetwork::on_event
  std::uint32_t ring = 0;      // for MessageNetwork::on_ring_event
};

// What a rank does at one tick is done together, when the first of it is due.
class RankMoments {
 public:
  virtual ~RankMoments() = default;
  // When the first event of a rank at the current tick was scheduled, done or not. Empty: it has none.
  [[nodiscard]] virtual std::optional<Tick> due_since(std::uint32_t rank) const = 0;
};

// Members in a ring, each of which sends equal messages to the next one: it handles a packet before each, and sends the
// next message when it has received as many as it has sent.
struct RingPacket {
  Tick lasts = 0;             // until the message is sent
  Tick scheduled_before = 0;  // so long before that, the event that sends it is scheduled
};
struct MessageRing {
  std::span<const std::uint32_t> members;  // ranks
  std::int64_t bytes = 0;
  std::span<const RingPacket> packets;  // before each message
  const RankMoments* moments = nullptr;
};
struct MessageRingMember {
  std::uint32_t ring = 0;
  std::uint32_t position = 0;
};

// The traffic of a link since the start of the run.
struct MessageLinkUsage {
  std::string name;
  std::int64_t bytes = 0;
  Tick busy = 0;
};

class MessageNetwork {
 public:
  virtual ~MessageNetwork() = default;
  // Starts moving bytes now; an event of kind `arrival` follows.
  virtual void send(const NetworkMessage& message) = 0;
  virtual void on_event(std::uint32_t index) = 0;
  // Forgets all traffic; the queue must hold no event of the network.
  virtual void reset() = 0;

  // Rings that a network computes without an event for each message. Empty: it cannot, and the messages are to be sent
  // one by one. What the ring refers to must outlive it; a member sends nothing else before it has received all.
  [[nodiscard]] virtual std::optional<std::uint32_t> open_ring(const MessageRing& /*ring*/) { return std::nullopt; }
  virtual void enter_ring(const MessageRingMember& /*member*/) {}
  // The member that has received its last message now, if one has.
  [[nodiscard]] virtual std::optional<MessageRingMember> on_ring_event(std::uint32_t /*index*/) { return std::nullopt; }
  // Whether a ring and another message reached a link in an order that only events for each message decide: what
  // follows may be wrong.
  [[nodiscard]] virtual bool rings_met_tie() const { return false; }

  // Whether two messages reached a link at the same tick, so that their order was decided by the order of events.
  [[nodiscard]] virtual bool met_ties() const { return false; }
  // Links that carried the most, busiest first.
  [[nodiscard]] virtual std::vector<MessageLinkUsage> busiest_links(std::size_t most) const = 0;
};

class MessageNetworks {
 public:
  virtual ~MessageNetworks() = default;
  // Networks of the same job know nothing of each other's traffic. `members`: ranks are positions in this list instead
  // (empty: they are ranks); it must outlive the network.
  [[nodiscard]] virtual std::unique_ptr<MessageNetwork> make(TickQueue& queue, NetworkEvents events,
                                                             std::span<const std::uint32_t> members) const = 0;
  // A network on which rank 0 stands for all: what it sends goes over links that stand for the same links of every
  // rank. Only where all_equivalent().
  [[nodiscard]] virtual std::unique_ptr<MessageNetwork> make_folded(TickQueue& queue, NetworkEvents events) const = 0;
  // False: messages never delay each other.
  [[nodiscard]] virtual bool shares_links() const = 0;
  // Of a message between members, where links are not shared.
  [[nodiscard]] virtual Tick delay(std::span<const std::uint32_t> members, const NetworkMessage& message) const = 0;
  // Whether a collective's messages take the same time for every member, and, where links are shared, load each link
  // equally, when all start at once. Empty: the whole job.
  [[nodiscard]] virtual bool all_equivalent(std::span<const std::uint32_t> members,
                                            const ChunkedCollective& collective) const = 0;
};

}  // namespace ringwright
