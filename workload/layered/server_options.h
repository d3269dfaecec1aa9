// Reads `layer_table.parameter_server`: hosts that hold the parameters.
#pragma once

#include "core/config/config_map.h"
#include "workload/layered/layered_layout.h"

namespace ringwright::workload {

// `all`: the job's ranks. Mistakes (E548) are recorded in the map; the layout is valid in any case.
[[nodiscard]] LayeredLayout read_layered_layout(ConfigMap& map, const LayeredLayout& all);

}  // namespace ringwright::workload
