// Groups of data-parallel ranks that a model's state is sharded over, and remarks on keys that do not matter to them.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/config/config_map.h"
#include "workload/options/training_options.h"

namespace ringwright::workload {

void sharding_without_effect(ConfigMap& map, std::string_view key, std::string_view why);

// Ranks of one node that differ only in their data-parallel coordinate.
[[nodiscard]] int ranks_of_node(const World& world, const ParallelOptions& options);

struct Divides {
  std::string_view key;
  std::int64_t size = 1;
  std::int64_t of = 1;
  std::string_view what;  // of is
};

// The size, or 1 after an error.
[[nodiscard]] int dividing(ConfigMap& map, const Divides& asked);

}  // namespace ringwright::workload
