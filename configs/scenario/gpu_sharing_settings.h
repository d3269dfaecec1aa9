// How jobs on the same GPUs share them: the block `gpu_sharing` of a machine, and what each of its jobs may take.
//
//     gpu_sharing: { kind: mps }
//     jobs:
//       - { name: a, gpus: 8, thread_percentage: 70 }
//       - { name: b, gpus: 8, gpus_of: a, thread_percentage: 30 }
#pragma once

#include <string_view>
#include <vector>

#include "configs/scenario/job_entries.h"
#include "core/base/diagnostic.h"
#include "core/config/config_map.h"
#include "core/plan/gpu_sharing.h"

namespace ringwright::configs {

struct Scenario;

inline constexpr std::string_view kSharingCode = "E487";

// `several`: of a machine with several jobs; others ignore the block.
[[nodiscard]] SharingKind read_gpu_sharing(ConfigMap root, bool several);
[[nodiscard]] std::string_view to_string(SharingKind kind);

// The keys of one job; `earlier`: the jobs before it.
void read_tenancy(ConfigMap& map, const Cluster& cluster, SharingKind kind, const std::vector<JobEntry>& earlier,
                  JobEntry& entry);

// By job: the first of those whose GPUs it is on.
[[nodiscard]] std::vector<std::size_t> first_tenants(const std::vector<JobEntry>& jobs);
[[nodiscard]] bool share_gpus(const std::vector<JobEntry>& jobs);

// What cannot be seen in one job.
void check_tenancy(ConfigMap root, const Scenario& machine);

}  // namespace ringwright::configs
