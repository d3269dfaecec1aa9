// The division of GPUs that Voda's elastic policies have in common.
#include <algorithm>

#include "planning/jobs/scheduling_policy.h"

namespace ringwright::planning {

std::vector<int> least_then_most(std::span<const ClusterJobView> jobs, int gpus) {
  std::vector<int> sizes(jobs.size());
  for (std::size_t i = 0; i < jobs.size() && gpus > 0; ++i) {
    if (jobs[i].job->least > gpus) continue;
    sizes[i] = jobs[i].job->least;
    gpus -= sizes[i];
  }
  for (std::size_t i = 0; i < jobs.size() && gpus > 0; ++i) {
    if (sizes[i] == 0) continue;
    const int more = std::min(gpus, jobs[i].job->most - sizes[i]);
    sizes[i] += more;
    gpus -= more;
  }
  return sizes;
}

}  // namespace ringwright::planning
