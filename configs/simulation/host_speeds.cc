#include "configs/simulation/host_speeds.h"

#include <cstddef>
#include <cstdint>
#include <set>

namespace ringwright::configs {
namespace {

// Of each host of the cluster; empty: all are equal.
std::vector<double> speeds_of_hosts(const Scenario& scenario) {
  const network_models::Host& first = scenario.cluster.host;
  const std::vector<double>& share = scenario.faults.nic_share_of_host;
  if (share.empty() && !scenario.cluster.mixed()) return {};
  std::vector<double> speeds;
  for (std::size_t host = 0; host < static_cast<std::size_t>(scenario.cluster.hosts); ++host) {
    const network_models::Host::Nic& nic = first.kind_at(static_cast<std::int64_t>(host)).nic;
    const double whole = nic.data_rate().count() * nic.count;
    speeds.push_back(whole * (share.empty() ? 1.0 : share[host]));
  }
  return speeds;
}

}  // namespace

std::map<const GroupLayout*, std::vector<double>> host_speeds_of_groups(const TaskGraph& graph,
                                                                        const Scenario& scenario) {
  std::map<const GroupLayout*, std::vector<double>> speeds;
  const std::vector<double> all = speeds_of_hosts(scenario);
  if (all.empty()) return speeds;
  std::set<const GroupLayout*> different;
  for (const Dimension& dimension : graph.dimensions) {
    for (std::size_t group = 0; group < dimension.groups.size(); ++group) {
      const GroupLayout& layout = graph.layouts[dimension.layout_of_group[group]];
      if (layout.host_count() < 2 || different.contains(&layout)) continue;
      std::vector<double> here;
      for (const std::vector<int>& members : layout.hosts) {
        const RankId first = dimension.groups[group][static_cast<std::size_t>(members.front())];
        here.push_back(all[first.index() / static_cast<std::size_t>(scenario.cluster.host.gpus)]);
      }
      const auto [known, is_new] = speeds.try_emplace(&layout, here);
      if (is_new || known->second == here) continue;
      speeds.erase(known);
      different.insert(&layout);
    }
  }
  return speeds;
}

}  // namespace ringwright::configs
