// Jobs that share GPUs, as an elastic policy sees them: it divides whole GPUs, so that the first job on one stands for
// all that fit on it with it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "planning/jobs/scheduling_policy.h"
#include "planning/jobs/shared_speed.h"

namespace ringwright::planning {

struct GpuCompany {
  // In the order of the jobs: those that share no GPU, and one for each that is shared.
  std::vector<ClusterJobView> first;
  std::vector<std::size_t> of_job;    // by job, its entry of `first`
};

// A job of a part goes to the fullest GPU that has room for it, as in GpuPool. With AntMan and TGS a GPU has one
// guaranteed job.
[[nodiscard]] GpuCompany company_of(std::span<const ClusterJobView> jobs, SharingKind sharing);

}  // namespace ringwright::planning
