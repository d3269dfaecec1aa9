#include "workload/layout/known_groups.h"

#include <algorithm>

namespace ringwright::workload {

bool KnownGroups::follow_from_layout(const ParallelOptions& parallel) {
  return parallel.meshes.empty() && !parallel.sharding.parameters;
}

void KnownGroups::keep(const ParallelOptions& parallel, TaskGraph& graph) {
  ranks_.reset();
  if (!follow_from_layout(parallel)) return;
  ranks_.emplace(parallel);
  dimensions_ = std::move(graph.dimensions);
  layouts_ = std::move(graph.layouts);
}

bool KnownGroups::give(const ParallelOptions& parallel, std::vector<Dimension>& dimensions, GroupLayouts& layouts) {
  const auto same = [](const Dimension& a, const Dimension& b) {
    return a.name == b.name && a.joins_stages == b.joins_stages;
  };
  if (!follow_from_layout(parallel) || ranks_ != RankLayout(parallel)) return false;
  if (!std::ranges::equal(dimensions, dimensions_, same)) return false;
  ranks_.reset();
  dimensions = std::move(dimensions_);
  layouts = std::move(layouts_);
  return true;
}

}  // namespace ringwright::workload
