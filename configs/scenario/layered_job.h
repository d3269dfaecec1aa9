// Reads the job of a scenario that trains a layer table: `layer_table` instead of model, training and parallel.
#pragma once

#include <cstdint>
#include <string>

#include "core/config/config_map.h"
#include "workload/layered/layered_model.h"

namespace ringwright::configs {

struct Cluster;  // configs/scenario/scenario.h
struct Job;

struct LayeredJob {
  workload::LayeredModel model;
  std::int64_t ranks = 1;  // each has a copy of all layers
};

// What would describe another job is refused. `ranks`: of the job.
[[nodiscard]] Job read_layered_job(ConfigMap root, const Cluster& cluster, std::int64_t ranks);

// "DP 64, 5 gradient buckets"
[[nodiscard]] std::string layout_text(const LayeredJob& job);

}  // namespace ringwright::configs
