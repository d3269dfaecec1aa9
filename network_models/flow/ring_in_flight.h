// A ring of the flow model in flight: the messages of its edges, its members' steps, and its timeline while it goes at
// once.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "core/ports/network_model.h"
#include "network_models/flow/flow_state.h"
#include "network_models/flow/ring_timeline.h"

namespace ringwright::network_models {

struct RingInFlight {
  static constexpr FlowSlot kNone = std::numeric_limits<FlowSlot>::max();

  struct Edge {
    FlowSlot flow = kNone;  // while it has messages to send
    TimePoint due;        // its message has paid its latency then
    bool queued = false;  // among the latencies; otherwise `due` is among the ends
    bool waits = false;   // its last message has arrived, and the member's step is not over
    bool alone = false;   // its message goes alone
    bool moved = false;   // its message had entered its links when the ring began to go at once
    std::uint32_t rated = 0;  // by which capacities its rate alone is known; 0: it is not
    RingTimeline::Walk::Known known = {};  // how long messages of the last size move at that rate
  };
  struct Member {
    TransferListener* listener = nullptr;
    std::uint64_t token = 0;
    std::uint64_t order = 0;
    std::uint32_t step = 0;
    std::uint32_t pending = 0;  // edges whose message of this step has not arrived
    bool over = false;          // and reported
  };
  // A message in flight at a moment.
  struct Flight {
    bool moves = false;
    TimePoint since;  // in its links
  };
  struct Carried {
    double bytes = 0.0;
    Duration busy;
  };

  void reset(const RingShape& shape);
  [[nodiscard]] bool is_over() const { return over == members.size(); }
  // It went at once for so many messages of the first edge. Each time that these are few, it waits for twice as
  // many before it tries again: finding its timeline costs as much as hundreds of messages one by one.
  void note_split(std::uint32_t done);
  [[nodiscard]] bool may_try() const { return timeline.edges().front().done >= tries_from; }
  // Begins the member's step: what it sends and awaits in it, as far as it has not arrived.
  void enter_step(std::uint32_t member, std::uint32_t step);
  // Of the edge's next message, at its rate alone.
  [[nodiscard]] Duration moving_time_alone(std::uint32_t edge);
  // While it goes at once, of an edge: its message at a position, what has arrived since, and what that and the message
  // in flight have carried.
  [[nodiscard]] Flight flight(std::uint32_t edge, const RingTimeline::Position& position, TimePoint now) const;
  [[nodiscard]] RingTimeline::Work work_of(std::uint32_t edge, std::uint32_t done) const;
  [[nodiscard]] Carried carried(std::uint32_t edge, const RingTimeline::Position& position, const FlowRow& row,
                                TimePoint now) const;
  [[nodiscard]] static Carried carried_in(Duration time, double rate) {
    return time > Duration() ? Carried{.bytes = rate * to_seconds(time), .busy = time} : Carried();
  }

  RingTimeline timeline;
  std::vector<Edge> edges;
  std::vector<Member> members;
  std::uint32_t messages = 0;  // of each edge
  std::uint32_t started = 0;   // members
  std::uint32_t over = 0;
  std::uint32_t hindered = 0;  // the last edge whose links another flow used
  // Messages of the first edge that go by before the ring may try again to go at once.
  std::uint32_t pause = 0;
  std::uint32_t tries_from = 0;  // message of the first edge
  bool at_once = false;
  bool noted = false;
  bool overlaps = false;  // its edges share links
};

}  // namespace ringwright::network_models
