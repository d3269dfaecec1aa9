// The list `jobs` of a scenario: several jobs on one machine, each with its GPUs and where they lie.
//
//     jobs:
//       - { name: pretrain, gpus: 512, placement: packed, model: {preset: llama3-70b}, parallel: {tp: 8, pp: 4} }
//       - { name: finetune, gpus: 64, placement: spread, scenario: finetune.yaml }
//
// A job's model, training, parallel, memory, workload and recommendation are those of the file, changed by its own; or
// those of the scenario that it names. Everything else (cluster, compute, collectives, simulate ...) is the machine's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/units.h"
#include "core/config/config_map.h"
#include "core/plan/gpu_sharing.h"

namespace ringwright::configs {

struct Cluster;

// kPacked: the first free hosts. kSpread: hosts from all units in turn. kRailAligned: hosts of as few units as
// possible. kRandom: any. kHosts: those named. A unit is the hosts whose NICs are on the same leaf switches.
enum class PlacementPolicy : std::uint8_t { kPacked, kSpread, kRailAligned, kRandom, kHosts };
[[nodiscard]] std::string_view to_string(PlacementPolicy policy);

struct JobEntry {
  std::string name;
  std::string scenario;               // a path; empty: this file
  std::vector<std::string> settings;  // as --set takes them
  std::int64_t gpus = 0;
  int gpus_per_host = 0;
  PlacementPolicy placement = PlacementPolicy::kPacked;
  std::vector<std::int64_t> hosts;  // kHosts: in the order of the job's ranks
  std::string gpus_of;      // an earlier job, whose GPUs it is on; empty: it has its own
  std::string mig_profile;  // of its instances
  TenantLimits limits;      // on GPUs that it shares
  Duration start;
  Place place;
};

// `sharing`: of jobs on the same GPUs.
[[nodiscard]] std::vector<JobEntry> read_job_entries(ConfigMap root, const Cluster& cluster, SharingKind sharing);

// The blocks of a scenario that belong to its job.
[[nodiscard]] std::vector<std::string_view> job_blocks();

}  // namespace ringwright::configs
