// Flows that are still paying their latency: first in, first out per latency value, so that no flow needs a heap.
//
// A fabric has few distinct latencies (in the host, one, two, three tiers); a flow that starts later in one queue is
// due later.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/units.h"
#include "network_models/flow/completion_queue.h"
#include "network_models/solver/probed_table.h"

namespace ringwright::network_models {

class LatencyQueues {
 public:
  // `now` must not decrease from call to call.
  void push(std::uint32_t item, TimePoint now, Duration latency);
  [[nodiscard]] TimePoint earliest() const { return heads_.empty() ? kNever : heads_.front().due; }
  // Appends all items that are due at the earliest moment, and removes them.
  void pop_earliest(std::vector<std::uint32_t>& items);

 private:
  struct Waiting {
    TimePoint due;
    std::uint32_t item;
  };
  // A queue in an array whose consumed front is trimmed occasionally.
  struct Queue {
    std::vector<Waiting> waiting;
    std::size_t front = 0;
  };
  struct Head {
    TimePoint due;
    std::uint32_t queue;
  };
  struct Later {
    bool operator()(const Head& a, const Head& b) const { return a.due != b.due ? a.due > b.due : a.queue > b.queue; }
  };

  void pop_queue(std::uint32_t queue, std::vector<std::uint32_t>& items);

  ProbedTable<Duration> by_latency_;
  std::vector<Queue> queues_;
  std::vector<Head> heads_;  // a heap of the non-empty queues
};

}  // namespace ringwright::network_models
