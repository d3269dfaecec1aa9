// Which GPUs several jobs on one machine get, by the placement policy of each, in the order of the jobs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "configs/scenario/scenario.h"
#include "core/base/diagnostic.h"
#include "core/base/ids.h"
#include "core/fabric/fabric.h"

namespace ringwright::configs {

// By host: its unit, the hosts whose NICs are on the same leaf switches, numbered in order of appearance. Hosts of
// networks without leaf switches are all in one.
[[nodiscard]] std::vector<std::uint32_t> units_of_hosts(const Fabric& fabric, const Cluster& cluster);

struct JobHosts {
  std::vector<RankId> gpus;  // by rank of the job
  std::size_t hosts = 0;
  std::size_t units = 0;
};

// E481 for each job that finds no place.
[[nodiscard]] Result<std::vector<JobHosts>> place_jobs(const Scenario& machine, std::span<const JobEntry> jobs,
                                                       const Fabric& fabric);

}  // namespace ringwright::configs
