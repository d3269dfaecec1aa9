// Reads the job of a scenario that trains a layer table: `layer_table` instead of model, training and parallel.
#pragma once

#include <string>

#include "core/config/config_map.h"
#include "workload/layered/layered_layout.h"
#include "workload/layered/layered_model.h"

namespace ringwright::configs {

struct Cluster;  // configs/scenario/scenario.h
struct Job;
struct Scenario;

struct LayeredJob {
  workload::LayeredModel model;
  workload::LayeredLayout layout;
};

// What would describe another job is refused. `all`: the job's ranks.
[[nodiscard]] Job read_layered_job(ConfigMap root, const Cluster& cluster, const workload::LayeredLayout& all);

// Parameter servers and NCCL's kernels exclude each other (E549).
void check_server_rung(ConfigMap root, const Scenario& scenario);

// "DP 64, 5 gradient buckets", "DP 56, 1 parameter server, 5 gradient buckets"
[[nodiscard]] std::string layout_text(const LayeredJob& job);

}  // namespace ringwright::configs
