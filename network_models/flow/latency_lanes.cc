#include "network_models/flow/latency_lanes.h"

#include <algorithm>

#include "core/base/check.h"

namespace ringwright::network_models {

void LatencyLanes::push(std::uint32_t item, TimePoint now, Duration latency) {
  std::uint32_t number = by_latency_.find(latency);
  if (number == DurationTable::kNone) {
    number = static_cast<std::uint32_t>(lanes_.size());
    lanes_.emplace_back();
    by_latency_.add(latency, number);
  }
  Lane& lane = lanes_[number];
  const TimePoint due = now + latency;
  if (lane.front == lane.waiting.size()) {
    lane.waiting.clear();
    lane.front = 0;
    heads_.push_back({.due = due, .lane = number});
    std::ranges::push_heap(heads_, Later());
  }
  DCHECK(lane.waiting.empty() || lane.waiting.back().due <= due, "time must not go back");
  lane.waiting.push_back({.due = due, .item = item});
}

void LatencyLanes::pop_earliest(std::vector<std::uint32_t>& items) {
  CHECK(!heads_.empty(), "nothing can be taken from empty lanes");
  const TimePoint due = heads_.front().due;
  while (!heads_.empty() && heads_.front().due == due) {
    const std::uint32_t lane = heads_.front().lane;
    std::ranges::pop_heap(heads_, Later());
    heads_.pop_back();
    pop_lane(lane, items);
  }
}

void LatencyLanes::pop_lane(std::uint32_t number, std::vector<std::uint32_t>& items) {
  Lane& lane = lanes_[number];
  const TimePoint due = lane.waiting[lane.front].due;
  while (lane.front < lane.waiting.size() && lane.waiting[lane.front].due == due) {
    items.push_back(lane.waiting[lane.front++].item);
  }
  if (lane.front == lane.waiting.size()) return;
  // Half of the array is used up: moving the rest costs less than one step per item taken.
  if (2 * lane.front > lane.waiting.size()) {
    lane.waiting.erase(lane.waiting.begin(), lane.waiting.begin() + static_cast<std::ptrdiff_t>(lane.front));
    lane.front = 0;
  }
  heads_.push_back({.due = lane.waiting[lane.front].due, .lane = number});
  std::ranges::push_heap(heads_, Later());
}

}  // namespace ringwright::network_models
