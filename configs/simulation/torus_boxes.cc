#include "configs/simulation/torus_boxes.h"

#include <cstdint>
#include <set>

namespace ringwright::configs {
namespace {

// The sides of the box that hosts fill, in their order, on a grid whose first side varies fastest; empty when they fill
// none.
std::vector<int> box_of(const std::vector<std::int64_t>& hosts, const std::vector<int>& grid) {
  const auto coordinate = [&](std::int64_t host, std::size_t side) {
    for (std::size_t s = 0; s < side; ++s) host /= grid[s];
    return static_cast<int>(host % grid[side]);
  };
  std::vector<int> sides;
  std::size_t count = 1;
  for (std::size_t side = 0; side < grid.size(); ++side) {
    sides.push_back(coordinate(hosts.back(), side) - coordinate(hosts.front(), side) + 1);
    if (sides.back() < 1 || (sides.back() > 1 && sides.back() < grid[side])) return {};
    count *= static_cast<std::size_t>(sides.back());
  }
  if (count != hosts.size()) return {};
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    std::size_t rest = i;
    for (std::size_t side = 0; side < grid.size(); ++side) {
      const auto length = static_cast<std::size_t>(sides[side]);
      if (coordinate(hosts[i], side) != coordinate(hosts.front(), side) + static_cast<int>(rest % length)) return {};
      rest /= length;
    }
  }
  return sides;
}

}  // namespace

std::map<const GroupLayout*, std::vector<int>> boxes_of_groups(const TaskGraph& graph, const Cluster& cluster) {
  std::map<const GroupLayout*, std::vector<int>> boxes;
  const std::vector<int> grid = cluster.topology->grid();
  if (grid.empty()) return boxes;
  std::set<const GroupLayout*> without;
  for (const Dimension& dimension : graph.dimensions) {
    for (std::size_t group = 0; group < dimension.groups.size(); ++group) {
      const GroupLayout& layout = graph.layouts[dimension.layout_of_group[group]];
      if (layout.host_count() < 2 || without.contains(&layout)) continue;
      std::vector<std::int64_t> hosts;
      for (const std::vector<int>& members : layout.hosts) {
        const RankId first = dimension.groups[group][static_cast<std::size_t>(members.front())];
        hosts.push_back(static_cast<std::int64_t>(first.index()) / cluster.host.gpus);
      }
      const std::vector<int> box = box_of(hosts, grid);
      const auto [known, is_new] = boxes.try_emplace(&layout, box);
      if (box.empty() || (!is_new && known->second != box)) {
        boxes.erase(known);
        without.insert(&layout);
      }
    }
  }
  return boxes;
}

}  // namespace ringwright::configs
