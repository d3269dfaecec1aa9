#include "network_models/flow/latency_queues.h"

#include <algorithm>

#include "core/base/check.h"

namespace ringwright::network_models {

void LatencyQueues::push(std::uint32_t item, TimePoint now, Duration latency) {
  std::uint32_t number = by_latency_.find(latency);
  if (number == ProbedTable<Duration>::kNone) {
    number = static_cast<std::uint32_t>(queues_.size());
    queues_.emplace_back();
    by_latency_.add(latency, number);
  }
  Queue& queue = queues_[number];
  const TimePoint due = now + latency;
  if (queue.front == queue.waiting.size()) {
    queue.waiting.clear();
    queue.front = 0;
    heads_.push_back({.due = due, .queue = number});
    std::ranges::push_heap(heads_, Later());
  }
  DCHECK(queue.waiting.empty() || queue.waiting.back().due <= due, "time must not go back");
  queue.waiting.push_back({.due = due, .item = item});
}

void LatencyQueues::pop_earliest(std::vector<std::uint32_t>& items) {
  CHECK(!heads_.empty(), "cannot pop from empty queues");
  const TimePoint due = heads_.front().due;
  while (!heads_.empty() && heads_.front().due == due) {
    const std::uint32_t queue = heads_.front().queue;
    std::ranges::pop_heap(heads_, Later());
    heads_.pop_back();
    pop_queue(queue, items);
  }
}

void LatencyQueues::pop_queue(std::uint32_t number, std::vector<std::uint32_t>& items) {
  Queue& queue = queues_[number];
  const TimePoint due = queue.waiting[queue.front].due;
  while (queue.front < queue.waiting.size() && queue.waiting[queue.front].due == due) {
    items.push_back(queue.waiting[queue.front++].item);
  }
  if (queue.front == queue.waiting.size()) return;
  // Half of the array is consumed: moving the rest costs less than one step per popped item.
  if (2 * queue.front > queue.waiting.size()) {
    queue.waiting.erase(queue.waiting.begin(), queue.waiting.begin() + static_cast<std::ptrdiff_t>(queue.front));
    queue.front = 0;
  }
  heads_.push_back({.due = queue.waiting[queue.front].due, .queue = number});
  std::ranges::push_heap(heads_, Later());
}

}  // namespace ringwright::network_models
