// Which running jobs make room for one that comes before them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "planning/jobs/gpu_pool.h"

namespace ringwright::planning {

// `later`: the GPUs of running jobs that may be stopped, in the order of the policy. Jobs are chosen from the last one
// on until the wish has a place; of these, the first ones stay where the place remains without them. So none stops in
// vain, and a job that comes earlier stops only where no later one would do. Empty: no choice makes a place, or none is
// needed. The pool is left as it was.
[[nodiscard]] std::vector<std::size_t> jobs_that_make_room(GpuPool& pool, const GpuPool::Wish& wish,
                                                           std::span<const Grant* const> later);

}  // namespace ringwright::planning
