// The division of GPUs that Voda's Elastic-FIFO and Elastic-SRJF have in common (heyfey/vodascheduler, pkg/algorithm).
#include <algorithm>

#include "planning/jobs/scheduling_policy.h"

namespace ringwright::planning {

std::vector<int> least_then_turns(std::span<const ClusterJobView> jobs, int gpus) {
  std::vector<int> sizes(jobs.size());
  std::vector<std::size_t> growing;
  for (std::size_t i = 0; i < jobs.size() && gpus > 0; ++i) {
    if (jobs[i].job->least > gpus) continue;
    sizes[i] = jobs[i].job->least;
    gpus -= sizes[i];
    growing.push_back(i);
  }
  while (gpus > 0) {
    std::erase_if(growing, [&](std::size_t i) { return sizes[i] >= jobs[i].job->most; });
    if (growing.empty()) break;
    for (const std::size_t i : growing) {
      if (gpus == 0) break;
      ++sizes[i];
      --gpus;
    }
  }
  return sizes;
}

}  // namespace ringwright::planning
