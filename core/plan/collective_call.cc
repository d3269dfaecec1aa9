#include "core/plan/collective_call.h"

#include <algorithm>
#include <cstddef>
#include <unordered_map>

#include "core/base/check.h"

namespace ringwright {

std::string_view to_string(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kAllReduce: return "all_reduce";
    case CollectiveKind::kAllGather: return "all_gather";
    case CollectiveKind::kReduceScatter: return "reduce_scatter";
    case CollectiveKind::kAllToAll: return "alltoall";
    case CollectiveKind::kBroadcast: return "broadcast";
    case CollectiveKind::kReduce: return "reduce";
  }
  return "";
}

GroupLayout make_group_layout(const std::vector<std::int64_t>& host, const std::vector<int>& gpu) {
  CHECK(host.size() == gpu.size(), "one host and one GPU position per member");
  GroupLayout layout;
  std::unordered_map<std::int64_t, int> number_of;
  for (std::size_t i = 0; i < host.size(); ++i) {
    const auto [entry, is_new] = number_of.try_emplace(host[i], layout.host_count());
    if (is_new) layout.hosts.emplace_back();
    std::vector<int>& members = layout.hosts[static_cast<std::size_t>(entry->second)];
    layout.host_of.push_back(entry->second);
    layout.place_in_host.push_back(static_cast<int>(members.size()));
    members.push_back(static_cast<int>(i));
  }
  layout.gpu_of = gpu;
  layout.position.resize(host.size());
  layout.smallest_host = layout.hosts.empty() ? 0 : layout.size();
  for (const std::vector<int>& members : layout.hosts) {
    const int count = static_cast<int>(members.size());
    layout.smallest_host = std::min(layout.smallest_host, count);
    layout.largest_host = std::max(layout.largest_host, count);
    for (const int member : members) {
      layout.position[static_cast<std::size_t>(member)] = static_cast<int>(layout.host_order.size());
      layout.host_order.push_back(member);
    }
  }
  return layout;
}

GroupLayout make_block_layout(int ranks, int per_host) {
  std::vector<std::int64_t> host;
  std::vector<int> gpu;
  for (int i = 0; i < ranks; ++i) {
    host.push_back(i / per_host);
    gpu.push_back(i % per_host);
  }
  return make_group_layout(host, gpu);
}

}  // namespace ringwright
