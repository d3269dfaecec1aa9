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

LinkTiers::LinkTiers(const Simulation& simulation) : capacities_(simulation.router().capacities()) {
  const LinkClasses& links = simulation.folding().links;
  const Fabric& fabric = simulation.network().fabric;
  members_.resize(links.size.size());
  std::map<std::pair<std::uint32_t, Ends>, std::uint64_t> others;
  for (std::size_t link = 0; link < links.class_of.size(); ++link) {
    const LinkSpec& spec = fabric.link(LinkId(link));
    const Ends ends = std::minmax(fabric.node(spec.from).kind, fabric.node(spec.to).kind);
    const std::uint32_t link_class = links.class_of[link];
    Members& members = members_[link_class];
    if (members.links == 0) members = {.ends = ends, .link_class = link_class, .links = 0};
    if (members.ends == ends) {
      ++members.links;
    } else {
      ++others[{link_class, ends}];
    }
  }
  for (const auto& [key, count] : others) {
    members_.push_back({.ends = key.second, .link_class = key.first, .links = count});
  }
}

std::vector<LinkTier> LinkTiers::read(const std::vector<LinkUsage>& usage, Duration elapsed) const {
  std::map<Ends, TierSum> tiers;
  const double seconds = to_seconds(elapsed);
  for (std::size_t row = 0; row < members_.size() && seconds > 0.0; ++row) {
    const Members& members = members_[row];
    TierSum& sum = tiers[members.ends];
    const double share = usage[members.link_class].bytes / capacities_[members.link_class].count() / seconds;
    sum.tier.links += members.links;
    sum.tier.highest = std::max(sum.tier.highest, share);
    sum.used += share * static_cast<double>(members.links);
    const auto above = std::ranges::upper_bound(kUseEdges, std::max(share, 0.0));
    const auto bin = static_cast<std::size_t>(above - kUseEdges.begin()) - 1;
    sum.tier.by_use[std::min(bin, kUseBins - 1)] += members.links;
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
