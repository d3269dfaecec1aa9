// The table of scheduling policies.
#include <array>

#include "planning/jobs/scheduling_policy.h"

namespace ringwright::planning {

std::span<const SchedulingPolicyEntry> scheduling_policies() {
  static constexpr std::array kPolicies = {
      SchedulingPolicyEntry{"fifo", "in the order of submission", make_fifo},
      SchedulingPolicyEntry{"fifo_preemptive",
                            "the first ones that the cluster holds, chosen anew in each round; stops running jobs",
                            make_fifo_preemptive},
      SchedulingPolicyEntry{"sjf", "the shortest of the waiting jobs first", make_sjf},
      SchedulingPolicyEntry{"srtf", "the shortest remaining time first; stops running jobs", make_srtf},
      SchedulingPolicyEntry{"tiresias", "the least attained GPU time first, in queues; stops running jobs",
                            make_tiresias},
      SchedulingPolicyEntry{"elastic_fifo", "in the order of submission: to each its least GPUs, then one more in turn",
                            make_elastic_fifo},
      SchedulingPolicyEntry{"elastic_srjf", "the same with the shortest remaining time first", make_elastic_srjf},
      SchedulingPolicyEntry{"elastic_tiresias",
                            "as tiresias; jobs shrink while many wait, and free GPUs go where they gain most",
                            make_elastic_tiresias},
      SchedulingPolicyEntry{"afs_l", "GPU by GPU to the job whose share of it shortens the waiting of all most",
                            make_afs_l},
  };
  return kPolicies;
}

}  // namespace ringwright::planning
