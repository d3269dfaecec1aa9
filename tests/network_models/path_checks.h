// Checks that a router's result is a path: it starts and ends at the right nodes, links connect, shares add up.
#pragma once

#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/fabric/fabric.h"
#include "network_models/builtin.h"

namespace ringwright::network_models {

inline RouteQuery between(std::size_t from, std::size_t to, RouteKind route_kind = RouteKind::kWhole) {
  return {.from = RankId(from), .to = RankId(to), .route_kind = route_kind, .label = 0};
}

inline std::vector<Hop> hops_of(const Network& network, const RouteQuery& query) {
  std::vector<Hop> hops;
  network.router->route(query, hops);
  return hops;
}

// Empty when the hops carry one unit of flow from the sender's GPU to the receiver's; else what is wrong.
inline std::string flow_error(const Fabric& fabric, const std::vector<Hop>& hops, const RouteQuery& query) {
  std::map<NodeId, double> surplus;
  std::set<LinkId> seen;
  for (const Hop& hop : hops) {
    if (hop.link.index() >= fabric.link_count()) return "a link that does not exist";
    if (!seen.insert(hop.link).second) return "link twice: " + fabric.name(hop.link);
    if (!(hop.share > 0.0)) return "no share on " + fabric.name(hop.link);
    surplus[fabric.link(hop.link).from] -= hop.share;
    surplus[fabric.link(hop.link).to] += hop.share;
  }
  surplus[fabric.gpus()[query.from.index()]] += 1.0;
  surplus[fabric.gpus()[query.to.index()]] -= 1.0;
  for (const auto& [node, left] : surplus) {
    if (std::abs(left) > 1e-9) return fmt::format("{} of the flow stays at {}", left, fabric.name(node));
  }
  return "";
}

// Empty when the path between two ranks is valid, as a whole and for its two halves.
inline std::string path_error(const Network& network, std::size_t from, std::size_t to) {
  const Fabric& fabric = network.fabric;
  std::vector<Hop> whole;
  std::vector<Hop> up;
  std::vector<Hop> down;
  const Duration latency = network.router->route(between(from, to), whole);
  const Duration up_latency = network.router->route(between(from, to, RouteKind::kUpToSwitch), up);
  const Duration down_latency = network.router->route(between(from, to, RouteKind::kDownFromSwitch), down);
  if (const std::string error = flow_error(fabric, whole, between(from, to)); !error.empty()) return error;
  if (latency != up_latency + down_latency) return "the halves' latencies do not add up";
  std::vector<Hop> joined = up;
  joined.insert(joined.end(), down.begin(), down.end());
  if (joined.size() != whole.size()) return "the halves do not make the whole";
  Duration sum;
  bool single = true;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (joined[i].link != whole[i].link) return "the halves take another path than the whole";
    // Sprayed paths have parallel links; only single paths have latencies that add up link by link.
    sum += fabric.link(whole[i].link).latency;
    single = single && whole[i].share > 0.999;
  }
  if (single && sum != latency) {
    return fmt::format("latency {} but the links' add up to {}", to_string(latency), to_string(sum));
  }
  return "";
}

// The first broken path of a fabric, named; empty when every ordered pair is valid.
inline std::string first_broken_path(const Network& network) {
  const std::size_t ranks = network.fabric.gpus().size();
  for (std::size_t from = 0; from < ranks; ++from) {
    for (std::size_t to = 0; to < ranks; ++to) {
      if (from == to) continue;
      if (const std::string error = path_error(network, from, to); !error.empty()) {
        return fmt::format("{} -> {}: {}", from, to, error);
      }
    }
  }
  return "";
}

// "host0/gpu0 host0/nvswitch0 host0/gpu1": the nodes of a single path.
inline std::string trace(const Network& network, const RouteQuery& query) {
  std::string text;
  for (const Hop& hop : hops_of(network, query)) {
    if (text.empty()) text = network.fabric.name(network.fabric.link(hop.link).from);
    text += " " + network.fabric.name(network.fabric.link(hop.link).to);
  }
  return text;
}

}  // namespace ringwright::network_models
