// Finish time of a collective if every message has its own link: the player's rule as a recurrence.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/ports/collective_algorithm.h"

namespace ringwright::collectives {

struct StepClock {
  Duration latency;
  Bandwidth bandwidth;

  // A member leaves a step when all its sends and all awaited ones of the same index have arrived.
  [[nodiscard]] Duration run(const CollectiveAlgorithm& algorithm, const CollectiveCall& call) const {
    const auto n = static_cast<std::size_t>(call.size());
    std::vector<Duration> entered(n);
    std::vector<CollectiveStep> steps(n);
    for (int index = 0; index < algorithm.steps(call); ++index) {
      std::vector<Duration> left = entered;
      for (std::size_t m = 0; m < n; ++m) {
        algorithm.step(call, static_cast<int>(m), index, steps[m]);
        for (const CollectiveSend& send : steps[m].sends) left[m] = std::max(left[m], arrival(entered[m], send));
      }
      const Duration last = *std::max_element(left.begin(), left.end());
      for (std::size_t m = 0; m < n; ++m) {
        for (const CollectiveAwait& await : steps[m].awaits) {
          const auto peer = static_cast<std::size_t>(await.peer);
          left[m] = std::max(left[m], arrival(entered[peer], steps[peer].sends[static_cast<std::size_t>(await.send)]));
        }
        if (steps[m].await_everyone) left[m] = last;
      }
      entered = left;
    }
    return *std::max_element(entered.begin(), entered.end());
  }

  [[nodiscard]] Duration arrival(Duration start, const CollectiveSend& send) const {
    return start + latency + transfer_time(send.size, bandwidth);
  }
};

}  // namespace ringwright::collectives
