#include "workload/recommendation/host_placement.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <utility>

namespace ringwright::workload {
namespace {

constexpr int kPlans = 20;  // HugeCTR's max_search_iter

struct HostPlan {
  HostPlacement placement;
  bool fits = true;

  [[nodiscard]] double busiest() const { return std::ranges::max(placement.cost_of_host); }
};

// Makes the plan for given numbers of parts.
class HostPlanner {
 public:
  HostPlanner(const std::vector<HostTables>& tables, const HostPlacementRules& rules)
      : tables_(tables), rules_(rules), bytes_(static_cast<std::size_t>(rules.hosts)) {}

  // Of a part.
  [[nodiscard]] double cost_of(std::size_t entry, std::int64_t parts) const {
    return tables_[entry].columns * (tables_[entry].pooling / static_cast<double>(parts) + rules_.exchange_cost);
  }

  [[nodiscard]] HostPlan plan(std::vector<std::int64_t> parts) && {
    const auto hosts = static_cast<std::size_t>(rules_.hosts);
    HostPlacement& placement = plan_.placement;
    placement = {.parts_of_table = std::move(parts),
                 .parts_on_host = std::vector(hosts, std::vector<std::int64_t>(tables_.size())),
                 .cost_of_host = std::vector<double>(hosts)};
    for (std::size_t host = 0; host < hosts; ++host) order_.emplace(0.0, host);
    std::vector<std::size_t> by_cost(tables_.size());
    std::iota(by_cost.begin(), by_cost.end(), std::size_t{0});
    const auto cost = [&](std::size_t entry) { return cost_of(entry, placement.parts_of_table[entry]); };
    std::ranges::stable_sort(by_cost, std::greater(), cost);
    for (const std::size_t entry : by_cost) {
      for (std::int64_t table = 0; table < tables_[entry].count; ++table) place(entry);
    }
    return std::move(plan_);
  }

 private:
  // All parts of one table, each on another host: those with the least to do that have room.
  void place(std::size_t entry) {
    const std::int64_t parts = plan_.placement.parts_of_table[entry];
    const double bytes = tables_[entry].bytes / static_cast<double>(parts);
    std::vector<std::size_t> chosen, full;
    for (const auto& [cost, host] : order_) {
      if (std::ssize(chosen) == parts) break;
      (bytes_[host] + bytes <= rules_.room ? chosen : full).push_back(host);
    }
    for (const std::size_t host : full) {
      if (std::ssize(chosen) == parts) break;
      plan_.fits = false;
      chosen.push_back(host);
    }
    for (const std::size_t host : chosen) {
      double& cost = plan_.placement.cost_of_host[host];
      order_.erase({cost, host});
      cost += cost_of(entry, parts);
      bytes_[host] += bytes;
      plan_.placement.parts_on_host[host][entry] += 1;
      order_.emplace(cost, host);
    }
  }

  const std::vector<HostTables>& tables_;
  const HostPlacementRules& rules_;
  HostPlan plan_;
  std::vector<double> bytes_;                       // by host
  std::set<std::pair<double, std::size_t>> order_;  // hosts by cost
};

}  // namespace

HostPlacement place_on_hosts(const std::vector<HostTables>& tables, const HostPlacementRules& rules) {
  std::vector<std::int64_t> parts(tables.size(), 1);
  const auto cost = [&](std::size_t entry) { return HostPlanner(tables, rules).cost_of(entry, parts[entry]); };
  HostPlan best = HostPlanner(tables, rules).plan(parts);
  for (int tried = 1; tried < kPlans; ++tried) {
    std::size_t hottest = tables.size();
    for (std::size_t entry = 0; entry < tables.size(); ++entry) {
      if (!tables[entry].may_split || parts[entry] * 2 > rules.hosts) continue;
      if (hottest == tables.size() || cost(entry) > cost(hottest)) hottest = entry;
    }
    if (hottest == tables.size()) break;
    parts[hottest] *= 2;
    HostPlan next = HostPlanner(tables, rules).plan(parts);
    if (!best.fits || (next.fits && next.busiest() < best.busiest())) best = std::move(next);
  }
  return std::move(best.placement);
}

}  // namespace ringwright::workload
