// Jobs that one block describes, instead of model, training and parallel.
#pragma once

#include <string_view>

#include "core/config/config_map.h"

namespace ringwright::configs {

struct Cluster;  // configs/scenario/scenario.h
struct Job;

struct SoleJob {
  std::string_view key;   // "layer_table"
  std::string_view what;  // "a layer table"
  std::string_view code;  // of mistakes
};

// What would describe another job is refused, and a cluster with GPUs of several kinds.
void check_sole_job(ConfigMap& root, const SoleJob& own, const Cluster& cluster);

// `compute` and `memory`, as of any job.
void read_sole_hardware(ConfigMap& root, const Cluster& cluster, Job& job);

}  // namespace ringwright::configs
