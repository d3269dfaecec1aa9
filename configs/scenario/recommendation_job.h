// Reads the job of a scenario that trains a recommendation model: `recommendation` instead of model, training and
// parallel.
#pragma once

#include <cstdint>
#include <string>

#include "core/config/config_map.h"
#include "workload/recommendation/recommendation_model.h"
#include "workload/recommendation/table_placement.h"

namespace ringwright::configs {

struct Cluster;  // configs/scenario/scenario.h
struct Job;

struct RecommendationJob {
  workload::RecommendationModel model;
  workload::TablePlacement placement;
};

// What would describe another job is refused. `ranks`: of the job.
[[nodiscard]] Job read_recommendation_job(ConfigMap root, const Cluster& cluster, std::int64_t ranks);

// "5 tables placed, 2 by rows, 1 on every rank; batch 65,536"
[[nodiscard]] std::string layout_text(const RecommendationJob& job);

}  // namespace ringwright::configs
