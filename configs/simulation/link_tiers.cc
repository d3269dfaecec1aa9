#include "configs/simulation/link_tiers.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace ringwright::configs {
namespace {

std::string_view words_for(NodeKind kind) {
  switch (kind) {
    case NodeKind::kGpu: return "GPU";
    case NodeKind::kNvSwitch: return "NVSwitch";
    case NodeKind::kPcieSwitch: return "PCIe switch";
    case NodeKind::kRootComplex: return "CPU";
    case NodeKind::kHostMemory: return "host memory";
    case NodeKind::kNic: return "NIC";
    case NodeKind::kLeaf: return "leaf switch";
    case NodeKind::kSpine: return "spine switch";
    case NodeKind::kCore: return "core switch";
    case NodeKind::kSwitch: return "switch";
    case NodeKind::kStorage: return "drives";
  }
  return "";
}

struct TierSum {
  LinkTier tier;
  double used = 0.0;  // sum of shares
};

}  // namespace

std::vector<LinkTier> link_tiers(const Simulation& simulation, const std::vector<LinkUsage>& usage, Duration elapsed) {
  const LinkClasses& links = simulation.folding().links;
  const std::span<const Bandwidth> capacities = simulation.router().capacities();
  const Fabric& fabric = simulation.network().fabric;
  std::map<std::pair<NodeKind, NodeKind>, TierSum> tiers;
  const double seconds = to_seconds(elapsed);
  for (std::size_t link = 0; link < usage.size() && seconds > 0.0; ++link) {
    const LinkSpec& spec = fabric.link(links.representative[link]);
    const auto ends = std::minmax(fabric.node(spec.from).kind, fabric.node(spec.to).kind);
    TierSum& sum = tiers[{ends.first, ends.second}];
    const double share = usage[link].bytes / capacities[link].count() / seconds;
    const std::uint64_t size = links.size[link];
    sum.tier.links += size;
    sum.tier.highest = std::max(sum.tier.highest, share);
    sum.used += share * static_cast<double>(size);
    const auto above = std::ranges::upper_bound(kUseEdges, std::max(share, 0.0));
    const auto bin = static_cast<std::size_t>(above - kUseEdges.begin()) - 1;
    sum.tier.by_use[std::min(bin, kUseBins - 1)] += size;
  }
  std::vector<LinkTier> result;
  for (auto& [ends, sum] : tiers) {
    if (!(sum.used > 0.0)) continue;
    sum.tier.name = fmt::format("{} - {}", words_for(ends.first), words_for(ends.second));
    sum.tier.mean = sum.used / static_cast<double>(sum.tier.links);
    result.push_back(sum.tier);
  }
  return result;
}

}  // namespace ringwright::configs
