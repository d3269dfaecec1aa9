// Reads `layer_table`: a network as a table of layers, and how its step is run.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/error_code.h"
#include "core/config/config_map.h"
#include "workload/gpu/gpu_spec.h"
#include "workload/layered/layered_model.h"

namespace ringwright::workload {

// What the table is checked against.
struct LayeredMachine {
  const GpuSpec& gpu;
  std::int64_t ranks = 1;
  bool ranks_known = true;  // false: a mistake about them is reported already
};

// Mistakes (E540 to E542, E135) are recorded in the map; the step can be built in any case.
[[nodiscard]] LayeredModel read_layered(ConfigMap& map, const LayeredMachine& machine);

[[nodiscard]] std::span<const ErrorCode> layered_error_codes();

}  // namespace ringwright::workload
