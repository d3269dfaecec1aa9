// The messages of an undisturbed ring, one after another: when each arrives if no other flow uses its links.
//
// Message k of a lane leaves at max(A(k-1), A'(k-1)), where A are the arrivals of its own messages and A' those of the
// lane before it, and takes its latency and its bytes at the rate of the lane's links: a recursion of maxima and sums,
// in whole picoseconds. When all lanes have moved on by the same time with a message, they do with all that follow (the
// recursion is linear over max and plus: Baccelli, Cohen, Olsder and Quadrat, "Synchronization and Linearity", 1992,
// section 3.7), and these are skipped.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/units.h"

namespace ringwright::network_models {

class RingTimeline {
 public:
  // A lane at the moment `since`.
  struct Lane {
    std::uint32_t done = 0;  // messages that have arrived
    bool flies = false;      // message number `done` is on its way
    TimePoint arrives;       // then
    Duration latency;
    double rate = 0.0;  // bytes per second
    // As in RingLane.
    std::span<const Bytes> sizes;
    std::uint32_t first = 0;
  };
  struct Position {
    std::uint32_t done = 0;
    bool flies = false;
    TimePoint left;  // when message number `done` did; for one that was not on its way at `since`
  };
  // Memory for the questions below, by lane; their answers are valid until the next one.
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

  // In the order of the ring.
  [[nodiscard]] std::vector<Lane>& lanes() { return lanes_; }
  [[nodiscard]] const std::vector<Lane>& lanes() const { return lanes_; }
  // The state of all lanes is that of this moment; each has that many messages.
  void begin(TimePoint since, std::uint32_t messages);
  [[nodiscard]] TimePoint since() const { return since_; }

  // By lane: when its last message arrives; `since` if it has.
  [[nodiscard]] std::span<const TimePoint> ends(Walk& walk) const;
  // By lane, at a moment from `since` on; what arrives or leaves then has.
  [[nodiscard]] std::span<const Position> positions(TimePoint now, Walk& walk) const;

  [[nodiscard]] static Bytes size_of(const Lane& lane, std::uint32_t message) {
    const auto sizes = static_cast<std::uint32_t>(lane.sizes.size());
    return sizes == 1 ? lane.sizes.front() : lane.sizes[(lane.first + sizes - message % sizes) % sizes];
  }
  // From entering the lane's links to its end.
  [[nodiscard]] static Duration moving_time_of(const Lane& lane, std::uint32_t message);
  // Of the messages of a lane from number `done` to before `end`.
  struct Work {
    Bytes bytes;
    Duration busy;  // in the links
  };
  [[nodiscard]] static Work work_of(const Lane& lane, std::uint32_t end);

 private:
  void restart(Walk& walk) const;
  void take_message(Walk& walk) const;
  void skip_equal(TimePoint until, Walk& walk) const;

  std::vector<Lane> lanes_;
  TimePoint since_;
  std::uint32_t messages_ = 0;
  std::uint32_t regular_from_ = 0;  // no message from this one on was on its way at `since`
};

}  // namespace ringwright::network_models
