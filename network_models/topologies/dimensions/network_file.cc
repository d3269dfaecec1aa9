#include "network_models/topologies/dimensions/network_file.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/text.h"

namespace ringwright::network_models {
namespace {

constexpr std::array<std::string_view, 4> kNetworkKeys = {"topology", "npus_count", "bandwidth", "latency"};
constexpr std::array<std::string_view, 3> kBlockNames = {"Ring", "FullyConnected", "Switch"};
constexpr std::int64_t kMostAstraRanks = 4'194'304;
constexpr std::size_t kMostNetworkDimensions = 16;

// By dimension.
struct NetworkLists {
  std::vector<std::string> topology;
  std::vector<std::int64_t> npus;
  std::vector<double> bandwidth;  // GB/s of 2^30 bytes
  std::vector<double> latency;    // ns
};

void check_blocks(ConfigMap& root, const std::vector<std::string>& topology) {
  const std::vector<std::string> names(kBlockNames.begin(), kBlockNames.end());
  for (const std::string& block : topology) {
    if (std::ranges::find(kBlockNames, block) != kBlockNames.end()) continue;
    const std::string near = nearest_name(block, names);
    root.error("topology", "E270", fmt::format("topology has '{}' and knows {}", block, join(names, ", ")),
               near.empty() ? std::string() : fmt::format("did you mean '{}'?", near));
  }
  if (topology.empty() || topology.size() > kMostNetworkDimensions) {
    root.error("topology", "E270",
               fmt::format("topology has {} dimensions and needs 1 to {}", topology.size(), kMostNetworkDimensions));
  }
}

// After a mistake in an entry its list is too short, which is no mistake of its own.
void check_lengths(ConfigMap& root, const NetworkLists& network, bool entries_are_right) {
  const std::size_t dimensions = network.topology.size();
  const std::array<std::pair<std::string_view, std::size_t>, 3> lists = {{{"npus_count", network.npus.size()},
                                                                          {"bandwidth", network.bandwidth.size()},
                                                                          {"latency", network.latency.size()}}};
  for (const auto& [name, length] : lists) {
    if (length == dimensions) continue;
    if (!root.has(name)) {
      root.error("", "E270", fmt::format("'{}' is missing", name), "all lists have one entry per dimension");
      continue;
    }
    if (!entries_are_right && length < dimensions) continue;
    root.error(name, "E270", fmt::format("{} has {} entries and topology has {}", name, length, dimensions),
               "all lists have one entry per dimension");
  }
  std::int64_t ranks = 1;
  for (const std::int64_t npus : network.npus) {
    ranks = npus > kMostAstraRanks / ranks ? kMostAstraRanks + 1 : ranks * npus;
  }
  if (ranks > kMostAstraRanks) {
    root.error("npus_count", "E270", fmt::format("the network has more than {} ranks", kMostAstraRanks));
  }
}

}  // namespace

AstraTopology read_astra_network(ConfigMap& root) {
  NetworkLists lists;
  warn_of_unread_keys(root, kNetworkKeys, kAstraSim);
  lists.topology = root.texts({.name = "topology", .doc = "Ring, FullyConnected or Switch for each dimension"});
  lists.npus =
      root.integers({.name = "npus_count", .doc = "ranks of each dimension", .min = 1, .max = kMostAstraRanks});
  lists.bandwidth =
      read_plain_numbers(root, {.name = "bandwidth", .doc = "of a link, GB/s of 2^30 bytes", .above = 0.0}, kAstraSim);
  lists.latency = read_plain_numbers(root, {.name = "latency", .doc = "of a link, ns", .above = -1e-300}, kAstraSim);
  const bool entries_are_right = !root.any_errors();
  check_blocks(root, lists.topology);
  check_lengths(root, lists, entries_are_right);
  AstraTopology network;
  const std::size_t dimensions =
      std::min({lists.topology.size(), lists.npus.size(), lists.bandwidth.size(), lists.latency.size()});
  for (std::size_t d = 0; d < dimensions; ++d) {
    network.dimensions.push_back({.block = parse_astra_block(lists.topology[d]).value_or(AstraBlock::kRing),
                                  .nodes = static_cast<std::uint32_t>(lists.npus[d]),
                                  .gigabytes_per_second = lists.bandwidth[d],
                                  .latency_ns = lists.latency[d]});
  }
  return network;
}

Result<ForeignReading<AstraTopology>> read_astra_network(const std::string& path) {
  return read_foreign_file<AstraTopology>(path, [](ConfigMap& root) { return read_astra_network(root); });
}

Result<ForeignReading<AstraTopology>> read_astra_network(const InputFile& file) {
  return read_foreign_document<AstraTopology>(ConfigDocument::load_text(file.path, file.text),
                                              [](ConfigMap& root) { return read_astra_network(root); });
}

}  // namespace ringwright::network_models
