#include "collectives/nccl/search/graph_cache.h"

namespace ringwright::collectives {

NcclGraphs NcclGraphCache::find(const NcclHost& host, const GroupLayout& layout, const NcclTables& tables) {
  const Shape shape{layout.host_count() > 1, members_by_host(layout)};
  const std::scoped_lock lock(mutex_);
  const auto known = known_.find(shape);
  if (known != known_.end()) return known->second;
  return known_.emplace(shape, find_nccl_graphs(host, layout, tables)).first->second;
}

}  // namespace ringwright::collectives
