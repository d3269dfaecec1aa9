// How collectives are divided into smaller ones that follow each other in a pipeline.
#pragma once

#include <string>
#include <vector>

#include "core/config/config_map.h"

namespace ringwright::workload {

// The partition space of Centauri (ASPLOS 2024): an all-reduce becomes a reduce-scatter and an all-gather; a collective
// over several hosts becomes one within each host and one across them; and every one becomes several, each with an
// equal part of the bytes.
struct Partition {
  std::vector<std::string> dimensions;  // whose collectives are divided
  bool substitute = false;
  bool hierarchical = false;
  int chunks = 1;

  [[nodiscard]] bool on() const { return !dimensions.empty() && (substitute || hierarchical || chunks > 1); }
};

// Reads `parallel.partition`. Mistakes are recorded in the map.
[[nodiscard]] Partition read_partition(ConfigMap& parallel);

}  // namespace ringwright::workload
