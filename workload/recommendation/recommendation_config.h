// Reads `recommendation`: a recommendation model and how its step is run.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/error_code.h"
#include "core/config/config_map.h"
#include "workload/gpu/gpu_spec.h"
#include "workload/recommendation/recommendation_model.h"
#include "workload/recommendation/table_placement.h"

namespace ringwright::workload {

// What the model is checked against.
struct RecommendationMachine {
  const GpuSpec& gpu;
  std::int64_t ranks = 1;
};

// Mistakes (E550 to E553) are recorded in the map; the model can be placed and built in any case.
[[nodiscard]] RecommendationModel read_recommendation(ConfigMap& map, const RecommendationMachine& machine);

// Warns (W550) where the rank with the most work has much more than the mean.
void check_balance(ConfigMap& map, const TablePlacement& placement);

[[nodiscard]] std::span<const ErrorCode> recommendation_error_codes();

}  // namespace ringwright::workload
