// A cache of search results, by the members of communicators on their hosts: a job has many communicators and few
// shapes.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "collectives/nccl/search/graph.h"

namespace ringwright::collectives {

// For one kind of host and one version; thread-safe.
class NcclGraphCache {
 public:
  [[nodiscard]] NcclGraphs find(const NcclHost& host, const GroupLayout& layout, const NcclTables& tables);

 private:
  using Shape = std::pair<bool, std::set<HostMembers>>;  // several hosts?, kinds of them
  std::mutex mutex_;
  std::map<Shape, NcclGraphs> known_;
};

}  // namespace ringwright::collectives
