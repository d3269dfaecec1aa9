#include "configs/simulation/first_hosts.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ringwright::configs {

bool is_alike_on_hosts(const GroupLayout& layout) {
  if (!layout.even() || !layout.nic_set.empty() || layout.servers.count > 0) return false;
  const auto gpu = [&](int index) { return layout.gpu_of[static_cast<std::size_t>(index)]; };
  return std::ranges::all_of(layout.hosts, [&](const std::vector<int>& members) {
    return std::ranges::equal(members, layout.hosts.front(), {}, gpu, gpu);
  });
}

GroupLayout on_first_hosts(const GroupLayout& layout, int hosts) {
  std::vector<std::int64_t> host_of;
  std::vector<int> gpu_of;
  for (std::size_t index = 0; index < layout.host_of.size(); ++index) {
    if (layout.host_of[index] >= hosts) continue;
    host_of.push_back(layout.host_of[index]);
    gpu_of.push_back(layout.gpu_of[index]);
  }
  return make_group_layout(host_of, gpu_of);
}

}  // namespace ringwright::configs
