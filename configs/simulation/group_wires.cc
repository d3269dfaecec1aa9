#include "configs/simulation/group_wires.h"

#include <algorithm>
#include <limits>
#include <set>
#include <vector>

#include "collectives/closed_form_torus.h"
#include "core/base/check.h"

namespace ringwright::configs {
namespace {

using collectives::HopCost;

HopCost cost_of_path(const Router& router, const RouteQuery& query) {
  std::vector<Hop> path;
  const Duration latency = router.route(query, path);
  double narrowest = std::numeric_limits<double>::max();
  for (const Hop& hop : path)
    narrowest = std::min(narrowest, router.capacities()[hop.link.index()].count() / hop.share);
  return {.latency = latency, .bandwidth = Bandwidth(narrowest)};
}

// A message of a step, and whether it stays in its host.
struct Flow {
  bool stays = false;
  Duration latency;
  std::vector<Hop> path;
};

// The first `count` hosts, and for each set of NICs that none of them has the first host and the one before it, so that
// traffic into and out of such a host is covered.
std::vector<int> first_hosts(const GroupLayout& layout, int count) {
  std::vector<int> hosts;
  std::vector<int> sets;
  for (int host = 0; host < layout.host_count(); ++host) {
    const bool is_first = host < count;
    const bool is_new = !layout.nic_set.empty() && std::ranges::count(sets, layout.nic_set_of(host)) == 0;
    if (!is_first && !is_new) continue;
    if (!is_first && std::ranges::count(hosts, host - 1) == 0) hosts.push_back(host - 1);
    hosts.push_back(host);
    sets.push_back(layout.nic_set_of(host));
  }
  return hosts;
}

std::map<LinkId, double> flows_on_links(const Router& router, const std::vector<RouteQuery>& queries) {
  std::map<LinkId, double> flows;
  std::vector<Hop> path;
  for (const RouteQuery& query : queries) {
    router.route(query, path);
    for (const Hop& hop : path) flows[hop.link] += hop.share;
  }
  return flows;
}

// The total rate of one host's members when each sends to its counterpart on another.
Bandwidth outward(const Router& router, const std::vector<RouteQuery>& queries) {
  double rate = std::numeric_limits<double>::max();  // of each of them
  for (const auto& [link, flows] : flows_on_links(router, queries)) {
    rate = std::min(rate, router.capacities()[link.index()].count() / flows);
  }
  return Bandwidth(rate * static_cast<double>(queries.size()));
}

// The total rate of a member that sends to all others on its host: that of a link which all messages share, exactly.
Bandwidth to_all(const Router& router, const std::vector<RouteQuery>& queries) {
  double rate = std::numeric_limits<double>::max();
  for (const auto& [link, flows] : flows_on_links(router, queries)) {
    const double share = flows / static_cast<double>(queries.size());
    rate = std::min(rate, router.capacities()[link.index()].count() / share);
  }
  return Bandwidth(rate);
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

collectives::WireCosts GroupWires::operator()(const CollectiveCall& call, const CollectiveAlgorithm& algorithm) const {
  collectives::WireCosts wires = (*this)(call);
  const collectives::StepAsked asked = collectives::step_asked(algorithm);
  if (asked == collectives::StepAsked::kNone || call.size() < 2) return wires;
  const bool of_rings = asked == collectives::StepAsked::kOfRings;
  const auto [entry, is_new] =
      known_steps_.try_emplace({call.dimension, call.layout, &algorithm,
                                of_rings ? CollectiveKind::kAllGather : call.kind, of_rings ? Bytes(0) : call.bytes});
  if (is_new) {
    const int index = asked == collectives::StepAsked::kBetweenHosts
                          ? collectives::first_step_between_hosts(algorithm, call)
                          : algorithm.steps(call) / 2;
    entry->second = of_rings ? step_of_rings(call, algorithm) : step_of(call, algorithm, index);
  }
  wires.step_inside = entry->second.inside;
  wires.step_between = entry->second.between;
  return wires;
}

// As in the first step of an all-gather, whose slices are those of all ring steps.
GroupWires::StepCost GroupWires::step_of_rings(CollectiveCall call, const CollectiveAlgorithm& algorithm) const {
  constexpr Bytes kEach(1 << 22);  // of a slice: large compared with rounding, and too long to be streamed
  call.kind = CollectiveKind::kAllGather;
  call.bytes = kEach * algorithm.pieces(call);
  return step_of(call, algorithm, 0);
}

// Members of the first hosts send; those of later hosts with the same NICs behave identically. Four hosts of a tree
// cover all of its roles.
GroupWires::StepCost GroupWires::step_of(const CollectiveCall& call, const CollectiveAlgorithm& algorithm,
                                         int index) const {
  constexpr int kHosts = 4;
  const std::vector<RankId>& group = some_group(call);
  const auto host_of = [&](int member) { return call.layout->host_of[static_cast<std::size_t>(member)]; };
  std::vector<Flow> flows;
  std::map<LinkId, double> load;  // bytes
  CollectiveStep step;
  for (const int host : first_hosts(*call.layout, kHosts)) {
    for (const int member : call.layout->hosts[static_cast<std::size_t>(host)]) {
      algorithm.step(call, member, index, step);
      for (const CollectiveSend& send : step.sends) {
        Flow& flow = flows.emplace_back(Flow{.stays = host_of(send.peer) == host, .latency = {}, .path = {}});
        flow.latency = router_.route({.from = group[static_cast<std::size_t>(member)],
                                      .to = group[static_cast<std::size_t>(send.peer)],
                                      .nics = send.nics,
                                      .label = collective_label(call.dimension)},
                                     flow.path);
        for (const Hop& hop : flow.path) load[hop.link] += hop.share * static_cast<double>(send.size.count());
      }
    }
  }
  const auto slowest = [&](bool stays) {
    HopCost cost;
    double seconds = 0.0;
    for (const Flow& flow : flows) {
      if (flow.stays != stays) continue;
      cost.latency = std::max(cost.latency, flow.latency);
      for (const Hop& hop : flow.path) {
        seconds = std::max(seconds, load[hop.link] / router_.capacities()[hop.link.index()].count());
      }
    }
    if (seconds > 0.0) cost.bandwidth = Bandwidth(static_cast<double>(call.bytes.count()) / seconds);
    return cost;
  };
  return {.inside = slowest(true), .between = slowest(false)};
}

collectives::WireCosts GroupWires::look_at(const CollectiveCall& call) const {
  const std::vector<RankId>& group = some_group(call);
  const auto rank = [&](int member) { return group[static_cast<std::size_t>(member)]; };
  const auto query = [&](int from, int to) {
    return RouteQuery{.from = rank(from), .to = rank(to), .label = collective_label(call.dimension)};
  };
  collectives::WireCosts wires;
  std::set<int> kinds;  // of hosts; the slowest counts
  for (int h = 0; h < call.layout->host_count(); ++h) {
    const std::vector<int>& host = call.layout->hosts[static_cast<std::size_t>(h)];
    if (host.size() < 2 || !kinds.insert(kind_of_host(call.layout->nic_set_of(h))).second) continue;
    const HopCost hop = cost_of_path(router_, query(host[0], host[1]));
    if (kinds.size() == 1 || hop.bandwidth < wires.inside.bandwidth) wires.inside = hop;
    std::vector<RouteQuery> others;
    for (std::size_t other = 1; other < host.size(); ++other) others.push_back(query(host[0], host[other]));
    const Bandwidth together = to_all(router_, others);
    if (kinds.size() == 1 || together < wires.member_outward) wires.member_outward = together;
    if (call.layout->nic_set.empty()) break;
  }
  if (call.layout->host_count() > 1) {
    for (const int first : first_hosts(*call.layout, 1)) {
      const std::vector<int>& here = call.layout->hosts[static_cast<std::size_t>(first)];
      const std::vector<int>& there =
          call.layout->hosts[static_cast<std::size_t>((first + 1) % call.layout->host_count())];
      std::vector<RouteQuery> all;
      for (std::size_t i = 0; i < std::min(here.size(), there.size()); ++i) all.push_back(query(here[i], there[i]));
      const HopCost hop = cost_of_path(router_, all.front());
      const Bandwidth together = outward(router_, all);
      if (first > 0 && !(together < wires.host_outward)) continue;
      wires.between = hop;
      wires.host_outward = together;
    }
  }
  return wires;
}

}  // namespace ringwright::configs
