#include "workload/options/shard_groups.h"

#include <algorithm>

#include <fmt/format.h>

namespace ringwright::workload {

void sharding_without_effect(ConfigMap& map, std::string_view key, std::string_view why) {
  map.warn(key, "W131", fmt::format("{} has no effect: {}", map.path_of(key), why));
}

int ranks_of_node(const World& world, const ParallelOptions& options) {
  const int model = options.tp;
  if (world.host_ranks <= model || world.host_ranks % model != 0) return 1;
  return std::min(options.replicas(), world.host_ranks / model);
}

int dividing(ConfigMap& map, const Divides& asked) {
  if (asked.size >= 1 && asked.size <= asked.of && asked.of % asked.size == 0) return static_cast<int>(asked.size);
  map.error(asked.key, "E140",
            fmt::format("{} = {} does not divide the {} {}", map.path_of(asked.key), asked.size, asked.of, asked.what));
  return 1;
}

}  // namespace ringwright::workload
