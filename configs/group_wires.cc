#include "configs/group_wires.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "core/base/check.h"

namespace ringwright::configs {
namespace {

using collectives::HopCost;

HopCost cost_of_way(const Router& router, const RouteQuery& query) {
  std::vector<Hop> way;
  const Duration latency = router.route(query, way);
  double narrowest = std::numeric_limits<double>::max();
  for (const Hop& hop : way) narrowest = std::min(narrowest, router.capacities()[hop.link.index()].count() / hop.share);
  return {.latency = latency, .bandwidth = Bandwidth(narrowest)};
}

// What the members of one host get out together when each sends to its counterpart on another.
Bandwidth outward(const Router& router, const std::vector<RouteQuery>& queries) {
  std::map<LinkId, double> load;  // flows on it
  std::vector<Hop> way;
  for (const RouteQuery& query : queries) {
    router.route(query, way);
    for (const Hop& hop : way) load[hop.link] += hop.share;
  }
  double rate = std::numeric_limits<double>::max();  // of every one of them
  for (const auto& [link, flows] : load) rate = std::min(rate, router.capacities()[link.index()].count() / flows);
  return Bandwidth(rate * static_cast<double>(queries.size()));
}

}  // namespace

const std::vector<RankId>& GroupWires::some_group(const CollectiveCall& call) const {
  const Dimension& dimension = graph_.dimensions[call.dimension.index()];
  for (std::size_t group = 0; group < dimension.groups.size(); ++group) {
    if (&graph_.layouts[dimension.layout_of_group[group]] == call.layout) return dimension.groups[group];
  }
  CHECK(false, "a call's layout is that of a group of its dimension");
  return dimension.groups.front();
}

collectives::WireCosts GroupWires::operator()(const CollectiveCall& call) const {
  const auto [entry, is_new] = known_.try_emplace({call.dimension, call.layout});
  if (is_new) entry->second = look_at(call);
  return entry->second;
}

collectives::WireCosts GroupWires::look_at(const CollectiveCall& call) const {
  const std::vector<RankId>& group = some_group(call);
  const auto rank = [&](int member) { return group[static_cast<std::size_t>(member)]; };
  const auto query = [&](int from, int to) {
    return RouteQuery{.from = rank(from), .to = rank(to), .label = collective_label(call.dimension)};
  };
  collectives::WireCosts wires;
  for (const std::vector<int>& host : call.layout->hosts) {
    if (host.size() < 2) continue;
    wires.inside = cost_of_way(router_, query(host[0], host[1]));
    break;
  }
  if (call.layout->host_count() > 1) {
    const std::vector<int>& here = call.layout->hosts[0];
    const std::vector<int>& there = call.layout->hosts[1];
    wires.between = cost_of_way(router_, query(here[0], there[0]));
    std::vector<RouteQuery> all;
    for (std::size_t i = 0; i < std::min(here.size(), there.size()); ++i) all.push_back(query(here[i], there[i]));
    wires.host_outward = outward(router_, all);
  }
  return wires;
}

}  // namespace ringwright::configs
