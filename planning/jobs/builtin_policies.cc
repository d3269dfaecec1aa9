// The table of scheduling policies.
#include <array>

#include "planning/jobs/scheduling_policy.h"

namespace ringwright::planning {

std::span<const PolicyEntry> scheduling_policies() {
  static constexpr std::array kPolicies = {
      PolicyEntry{"fifo", "in the order of submission", make_fifo},
      PolicyEntry{"sjf", "the shortest of the waiting jobs first", make_sjf},
      PolicyEntry{"srtf", "the shortest remaining time first; stops running jobs", make_srtf},
      PolicyEntry{"tiresias", "the least attained GPU time first, in queues; stops running jobs", make_tiresias},
      PolicyEntry{"elastic_fifo", "in the order of submission: to each its least GPUs, then up to its most",
                  make_elastic_fifo},
      PolicyEntry{"elastic_srjf", "the same with the shortest remaining time first", make_elastic_srjf},
      PolicyEntry{"elastic_tiresias", "the same with the least attained GPU time first", make_elastic_tiresias},
      PolicyEntry{"afs_l", "GPU by GPU to the job whose share of it shortens the waiting of all most", make_afs_l},
  };
  return kPolicies;
}

}  // namespace ringwright::planning
