#include "traces/astra/memory_file.h"

#include <array>

namespace ringwright::traces {
namespace {

constexpr std::array<std::string_view, 5> kMemoryKeys = {"memory-type", "remote-mem-latency", "remote-mem-bw",
                                                         "num-nodes", "num-npus-per-node"};
constexpr std::array kMemoryKinds = {
    Option{"NO_MEMORY_EXPANSION", "there is none"}, Option{"PER_NODE_MEMORY_EXPANSION", "one device per node"},
    Option{"PER_NPU_MEMORY_EXPANSION", "one device per rank"}, Option{"MEMORY_POOL", "one device for all ranks"}};
constexpr std::int64_t kMostRanksOfNode = 4'194'304;

}  // namespace

AstraMemory read_astra_memory(ConfigMap& root) {
  AstraMemory memory;
  warn_of_unread_keys(root, kMemoryKeys, kAstraSim);
  const std::string kind = root.choice({.name = "memory-type", .doc = "who shares a device"}, kMemoryKinds);
  for (std::size_t i = 0; i < kMemoryKinds.size(); ++i) {
    if (kMemoryKinds[i].name == kind) memory.kind = static_cast<AstraMemoryKind>(i);
  }
  if (memory.kind == AstraMemoryKind::kNone) {
    root.ignore_rest("there is no remote memory");
    return memory;
  }
  memory.latency = root.integer({.name = "remote-mem-latency", .doc = "ns", .min = 0, .max = 1'000'000'000'000});
  memory.bytes_per_ns = root.number({.name = "remote-mem-bw", .doc = "bytes per ns", .min = 0.0, .max = 1e18});
  if (!(memory.bytes_per_ns > 0.0)) root.error("remote-mem-bw", "E270", "remote-mem-bw is 0 and must be above");
  if (memory.kind == AstraMemoryKind::kPerNode) {
    memory.npus_per_node =
        root.integer({.name = "num-npus-per-node", .doc = "ranks of a node", .min = 1, .max = kMostRanksOfNode});
    if (root.has("num-nodes")) {
      memory.nodes = root.integer({.name = "num-nodes", .doc = "nodes", .min = 1, .max = kMostRanksOfNode});
    }
  }
  return memory;
}

Result<ForeignReading<AstraMemory>> read_astra_memory(const std::string& path) {
  return read_foreign_file<AstraMemory>(path, [](ConfigMap& root) { return read_astra_memory(root); });
}

}  // namespace ringwright::traces
