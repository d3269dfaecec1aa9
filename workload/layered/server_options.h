// Reads `layer_table.parameter_server`: hosts that hold the parameters.
#pragma once

#include <optional>

#include "core/config/config_map.h"
#include "workload/layered/layered_layout.h"

namespace ringwright::workload {

// `all`: the job's ranks. Nothing where a mistake (E548) is recorded in the map.
[[nodiscard]] std::optional<LayeredLayout> read_layered_layout(ConfigMap& map, const LayeredLayout& all);

}  // namespace ringwright::workload
