// The messages of an undisturbed ring, one after another: when each arrives if no other flow uses its links.
//
// Message k of a member's edges leaves when the last of messages k-1 has arrived that it sends and awaits (RingShape),
// and takes its latency and its bytes at the rate of the edge's links: a recursion of maxima and sums, in whole
// picoseconds. When all edges have moved on by the same time with a message, they do with all that follow (the
// recursion is linear over max and plus: Baccelli, Cohen, Olsder and Quadrat, "Synchronization and Linearity", 1992,
// section 3.7), and these are skipped.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/units.h"
#include "core/ports/ring_shape.h"

namespace ringwright::network_models {

class RingTimeline {
 public:
  // An edge at the moment `since`.
  struct Edge {
    std::uint32_t done = 0;  // messages that have arrived
    bool flies = false;      // message number `done` is on its way
    TimePoint arrives;       // then
    Duration latency;
    double rate = 0.0;  // bytes per second
    // As in RingEdge.
    std::span<const Bytes> sizes;
    std::uint32_t first = 0;  // less than their number
  };
  struct Position {
    std::uint32_t done = 0;
    bool flies = false;
    TimePoint left;  // when message number `done` did; for one that was not on its way at `since`
  };
  // Memory for the questions below, by edge; their answers are valid until the next one.
  struct Walk {
    // The last time computed: most messages have the same size.
    struct Known {
      Bytes size{-1};
      Duration time;
    };
    std::uint32_t message = 0;       // the next one
    std::vector<TimePoint> arrived;  // of the message before it
    std::vector<TimePoint> arrives;  // of this one
    std::vector<TimePoint> left;
    std::vector<Known> known;
    std::vector<Position> positions;
  };

  // Edges as in the shape, which outlives this; none has begun.
  void reset(const RingShape& shape) {
    shape_ = &shape;
    edges_.assign(shape.edges(), {});
  }
  [[nodiscard]] const RingShape& shape() const { return *shape_; }
  [[nodiscard]] std::vector<Edge>& edges() { return edges_; }
  [[nodiscard]] const std::vector<Edge>& edges() const { return edges_; }
  // The state of all edges is that of this moment; each has that many messages.
  void begin(TimePoint since, std::uint32_t messages);
  [[nodiscard]] TimePoint since() const { return since_; }

  // By edge: when its last message arrives; `since` if it has.
  [[nodiscard]] std::span<const TimePoint> ends(Walk& walk) const;
  // By edge, at a moment from `since` on; what arrives or leaves then has.
  [[nodiscard]] std::span<const Position> positions(TimePoint now, Walk& walk) const;

  [[nodiscard]] static Bytes size_of(const Edge& edge, std::uint32_t message) {
    const auto sizes = static_cast<std::uint32_t>(edge.sizes.size());
    if (sizes == 1) return edge.sizes.front();
    const std::uint32_t back = message < sizes ? message : message % sizes;
    return edge.sizes[edge.first >= back ? edge.first - back : edge.first + sizes - back];
  }
  // From entering the edge's links to its end.
  [[nodiscard]] static Duration moving_time_of(const Edge& edge, std::uint32_t message);
  // Of the messages of an edge from number `done` to before `end`.
  struct Work {
    Bytes bytes;
    Duration busy;  // in the links
  };
  [[nodiscard]] static Work work_of(const Edge& edge, std::uint32_t end);

 private:
  void restart(Walk& walk) const;
  void take_message(Walk& walk) const;
  [[nodiscard]] TimePoint take_edge(std::uint32_t number, TimePoint begins, Walk& walk) const;
  void skip_equal(TimePoint until, Walk& walk) const;

  const RingShape* shape_ = nullptr;
  std::vector<Edge> edges_;
  TimePoint since_;
  std::uint32_t messages_ = 0;
  std::uint32_t regular_from_ = 0;  // no message from this one on was on its way at `since`
  bool uniform_ = false;            // all messages of an edge have the same size
};

}  // namespace ringwright::network_models
