// A ring of the flow model in flight: the messages of its edges, its members' steps, and its timeline while it goes at
// once.
//
// An edge is *foreseen* while it has its links to itself: when a message of it leaves and arrives is known as soon as
// those before it are (ring_foresight.h). Other edges move message by message.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/ports/network_model.h"
#include "network_models/flow/flow_state.h"
#include "network_models/flow/ring_timeline.h"

namespace ringwright::network_models {

// When the next messages of an edge arrive, in order. The first of few lie with the rest of the edge in one line of the
// cache.
class ArrivalsAhead {
 public:
  [[nodiscard]] std::uint32_t size() const { return count_; }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] bool full() const { return count_ == kMost; }
  [[nodiscard]] TimePoint operator[](std::uint32_t place) const { return at_[(first_ + place) % kMost]; }
  [[nodiscard]] TimePoint front() const { return at_[first_]; }
  void push(TimePoint at) { at_[(first_ + count_++) % kMost] = at; }
  void pop() { first_ = --count_ == 0 ? 0 : (first_ + 1) % kMost; }
  // To so many.
  void shorten(std::uint32_t count) { count_ = count; }

 private:
  // With more, more is forgotten when another flow comes; with fewer, members wake up more often.
  static constexpr std::uint32_t kMost = 8;

  std::uint32_t first_ = 0;
  std::uint32_t count_ = 0;
  std::array<TimePoint, kMost> at_;
};

struct RingInFlight {
  static constexpr FlowSlot kNone = std::numeric_limits<FlowSlot>::max();

  struct alignas(64) Edge {
    FlowSlot flow = kNone;  // until its member is over
    TimePoint due;          // its message has paid its latency then
    bool queued = false;    // among the latencies; otherwise `due` is among the ends
    bool waits = false;     // its last message has arrived, and the next one has not left; not while it is foreseen
    bool foreseen = false;
    bool moved = false;                    // its message had entered its links when the ring began to go at once
    std::uint32_t rated = 0;               // by which capacities its rate alone is known; 0: it is not
    RingTimeline::Walk::Known known = {};  // how long messages of the last size move at that rate
    std::uint32_t announced = 0;           // messages whose arrival the waiting members know
    ArrivalsAhead ahead;  // of messages from number `done` of the timeline's edge on; some may have arrived by now
  };
  struct Member {
    TransferListener* listener = nullptr;
    std::uint64_t token = 0;
    std::uint64_t order = 0;
    std::uint32_t step = 0;     // the last one whose beginning is known
    std::uint32_t pending = 0;  // edges that end it and whose message of it is not announced
    bool wakes = false;         // when it begins, or the member ends: at the end of its first edge's flow
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
  // Begins the member's step: what it sends and awaits in it, as far as it is not announced.
  void enter_step(std::uint32_t member, std::uint32_t step);
  // The messages of an edge whose arrival is known.
  [[nodiscard]] std::uint32_t known(std::uint32_t edge) const {
    return timeline.edges()[edge].done + edges[edge].ahead.size();
  }
  [[nodiscard]] FlowSlot first_flow(std::uint32_t member) const {
    return edges[timeline.shape().first_edge(member)].flow;
  }
  // Of the edge's message, at its rate alone.
  [[nodiscard]] Duration moving_time_alone(std::uint32_t edge, std::uint32_t message);
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
  std::uint32_t foreseen = 0;  // edges
  std::uint32_t hindered = 0;  // the last edge whose links another flow used
  // Messages of the first edge that go by before the ring may try again to go at once.
  std::uint32_t pause = 0;
  std::uint32_t tries_from = 0;  // message of the first edge
  bool at_once = false;
  bool noted = false;
  bool overlaps = false;  // its edges share links
};

}  // namespace ringwright::network_models
