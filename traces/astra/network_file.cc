#include "traces/astra/network_file.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"

namespace ringwright::traces {
namespace {

constexpr std::array<std::string_view, 4> kNetworkKeys = {"topology", "npus_count", "bandwidth", "latency"};
constexpr std::array<std::string_view, 3> kBlocks = {"Ring", "FullyConnected", "Switch"};
constexpr std::array<std::string_view, 5> kMemoryKeys = {"memory-type", "remote-mem-latency", "remote-mem-bw",
                                                         "num-nodes", "num-npus-per-node"};
constexpr std::array kMemoryKinds = {
    Option{"NO_MEMORY_EXPANSION", "there is none"}, Option{"PER_NODE_MEMORY_EXPANSION", "one device per node"},
    Option{"PER_NPU_MEMORY_EXPANSION", "one device per rank"}, Option{"MEMORY_POOL", "one device for all ranks"}};
constexpr std::int64_t kMostRanks = 4'194'304;
constexpr std::size_t kMostNetworkDimensions = 16;

void check_blocks(ConfigMap& root, const std::vector<std::string>& topology) {
  const std::vector<std::string> names(kBlocks.begin(), kBlocks.end());
  for (const std::string& block : topology) {
    if (std::ranges::find(kBlocks, block) != kBlocks.end()) continue;
    const std::string near = nearest_name(block, names);
    root.error("topology", "E270", fmt::format("topology has '{}' and knows {}", block, join(names, ", ")),
               near.empty() ? std::string() : fmt::format("did you mean '{}'?", near));
  }
  if (topology.empty() || topology.size() > kMostNetworkDimensions) {
    root.error("topology", "E270",
               fmt::format("topology has {} dimensions and needs 1 to {}", topology.size(), kMostNetworkDimensions));
  }
}

void check_lengths(ConfigMap& root, const AstraNetwork& network) {
  const std::size_t dimensions = network.topology.size();
  const std::array<std::pair<std::string_view, std::size_t>, 3> lists = {{{"npus_count", network.npus.size()},
                                                                          {"bandwidth", network.bandwidth.size()},
                                                                          {"latency", network.latency.size()}}};
  for (const auto& [name, length] : lists) {
    if (length == dimensions) continue;
    root.error(name, "E270", fmt::format("{} has {} entries and topology has {}", name, length, dimensions),
               "all lists have one entry per dimension");
  }
  std::int64_t ranks = 1;
  for (const std::int64_t npus : network.npus) ranks = npus > kMostRanks / ranks ? kMostRanks + 1 : ranks * npus;
  if (ranks > kMostRanks) {
    root.error("npus_count", "E270", fmt::format("the network has more than {} ranks", kMostRanks));
  }
}

}  // namespace

AstraNetwork read_astra_network(ConfigMap& root) {
  AstraNetwork network;
  warn_of_unread_keys(root, kNetworkKeys);
  network.topology = root.texts({.name = "topology", .doc = "Ring, FullyConnected or Switch for each dimension"});
  network.npus = root.integers({.name = "npus_count", .doc = "ranks of each dimension", .min = 1, .max = kMostRanks});
  network.bandwidth = numbers_above(root, "bandwidth", "of a link, GB/s of 2^30 bytes", 0.0);
  network.latency = numbers_above(root, "latency", "of a link, ns", -1e-300);
  check_blocks(root, network.topology);
  check_lengths(root, network);
  return network;
}

Result<AstraReading<AstraNetwork>> read_astra_network(const std::string& path) {
  return read_astra_file<AstraNetwork>(path, [](ConfigMap& root) { return read_astra_network(root); });
}

AstraMemory read_astra_memory(ConfigMap& root) {
  AstraMemory memory;
  warn_of_unread_keys(root, kMemoryKeys);
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
        root.integer({.name = "num-npus-per-node", .doc = "ranks of a node", .min = 1, .max = kMostRanks});
    static_cast<void>(root.integer({.name = "num-nodes", .doc = "nodes", .fallback = 1, .min = 1, .max = kMostRanks}));
  }
  return memory;
}

Result<AstraReading<AstraMemory>> read_astra_memory(const std::string& path) {
  return read_astra_file<AstraMemory>(path, [](ConfigMap& root) { return read_astra_memory(root); });
}

}  // namespace ringwright::traces
