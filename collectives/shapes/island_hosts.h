// How many hosts an island of a group has: consecutive hosts of one kind (cluster.groups).
#pragma once

#include "core/plan/collective_call.h"

namespace ringwright::collectives {

// Of the first island; all hosts where they are of one kind.
[[nodiscard]] inline int hosts_of_island(const GroupLayout& layout) {
  int hosts = 1;
  const int kind = kind_of_host(layout.nic_set_of(0));
  if (layout.nic_set.empty()) return layout.host_count();
  while (hosts < layout.host_count() && kind_of_host(layout.nic_set_of(hosts)) == kind) ++hosts;
  return hosts;
}

}  // namespace ringwright::collectives
