// Node groups of a cluster (`cluster.groups`): hosts of several kinds with their own GPUs, one group after the other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/config/config_map.h"
#include "workload/gpu/gpu_spec.h"

namespace ringwright::configs {

struct Cluster;  // configs/scenario/scenario.h

struct HostGroup {
  std::string name;
  std::int64_t hosts = 0;
  workload::GpuSpec gpu;
};

// Reads `cluster.groups` into the cluster: its hosts and their kinds, and the GPU of the first group as its own.
// Mistakes are recorded in the map.
void read_host_groups(ConfigMap& map, Cluster& cluster);

}  // namespace ringwright::configs
