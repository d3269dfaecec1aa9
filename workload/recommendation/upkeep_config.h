// Reads `recommendation.upkeep`: how tables are saved and restored.
#pragma once

#include "core/config/config_map.h"
#include "workload/recommendation/recommendation_model.h"

namespace ringwright::workload {

// Of `recommendation`, whose tables have so many bits a weight; without the block its defaults. Mistakes are recorded
// in the map.
[[nodiscard]] EmbeddingUpkeep read_upkeep(ConfigMap& recommendation, std::int64_t weight_bits);

}  // namespace ringwright::workload
