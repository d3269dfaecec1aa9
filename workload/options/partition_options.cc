// Reading of `parallel.partition`.
#include "workload/options/partition_options.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

namespace ringwright::workload {
namespace {

constexpr std::string_view kPartition = "partition";
constexpr std::array<std::string_view, 11> kDivisible{"tp", "cp",  "ep",       "etp",          "dp",   "edp",
                                                      "mp", "outer", "dp_shard", "dp_replicate", "embedding"};

}  // namespace

Partition read_partition(ConfigMap& parallel) {
  Partition partition;
  if (!parallel.has(kPartition) && !parallel.documenting()) return partition;
  ConfigMap map = parallel.map(kPartition, "collectives divided into smaller ones, one after another (Centauri)");
  partition.dimensions = map.texts(
      {.name = "dimensions",
       .doc = "groups whose collectives are divided: tp, cp, ep, etp, dp, edp, mp, outer, dp_shard, dp_replicate or "
              "embedding; other groups are not divided"});
  partition.substitute = map.boolean({.name = "substitute",
                                      .doc = "an all-reduce becomes a reduce-scatter, and an all-gather on a separate "
                                             "stream",
                                      .fallback = false});
  partition.hierarchical = map.boolean({.name = "hierarchical",
                                        .doc = "a collective over several hosts becomes one within each host and one "
                                               "across hosts, each on a separate stream",
                                        .fallback = false});
  partition.chunks = static_cast<int>(map.integer({.name = "chunks",
                                                   .doc = "a collective is so many, with equal parts of its bytes",
                                                   .fallback = 1,
                                                   .min = 1,
                                                   .max = 64}));
  for (const std::string& name : partition.dimensions) {
    if (std::ranges::find(kDivisible, name) != kDivisible.end()) continue;
    map.error("dimensions", "E574", fmt::format("{} names '{}', which has no collectives to divide",
                                                map.path_of("dimensions"), name),
              "use tp, cp, ep, etp, dp, edp, mp, outer, dp_shard, dp_replicate or embedding");
  }
  return partition;
}

}  // namespace ringwright::workload
