#include "network_models/topologies/nic_failover.h"

#include <algorithm>
#include <array>
#include <optional>

namespace ringwright::network_models {
namespace {

bool is_nic_to_network(const Fabric& fabric, NodeId nic, NodeId other) {
  const NodeKind kind = fabric.node(other).kind;
  return fabric.node(nic).kind == NodeKind::kNic && is_switch(kind) && kind != NodeKind::kNvSwitch &&
         kind != NodeKind::kPcieSwitch;
}

// The end of the cable that is a NIC, if the link is one.
std::optional<NodeId> nic_of(const Fabric& fabric, const LinkSpec& link) {
  if (is_nic_to_network(fabric, link.from, link.to)) return link.from;
  if (is_nic_to_network(fabric, link.to, link.from)) return link.to;
  return std::nullopt;
}

// Adds the links of a path to those of others, which carry an equal part of the traffic.
void add_part(std::span<const Hop> part, std::vector<Hop>& hops) {
  for (const Hop& hop : part) {
    const auto known = std::ranges::find(hops, hop.link, &Hop::link);
    if (known == hops.end()) {
      hops.push_back(hop);
    } else {
      known->share += hop.share;
    }
  }
}

}  // namespace

NicFailover::NicFailover(const Fabric& fabric, const Router& router, std::span<const FailoverMode> modes) {
  for (const NodeId gpu : fabric.gpus()) host_of_.push_back(fabric.node(gpu).first);
  for (std::size_t i = 0; i < fabric.link_count(); ++i) {
    const std::optional<NodeId> end = nic_of(fabric, fabric.link(LinkId(i)));
    if (!end) continue;
    const NodeSpec& nic = fabric.node(*end);
    if (modes[i] != FailoverMode::kNone) failing_[LinkId(i)] = {.host = nic.first, .nic = nic.second, .mode = modes[i]};
    const auto host = static_cast<std::size_t>(nic.first);
    const auto number = static_cast<std::size_t>(nic.second);
    if (hosts_.size() <= host) hosts_.resize(host + 1);
    if (hosts_[host].size() <= number) hosts_[host].resize(number + 1);
    hosts_[host][number].cables.emplace_back(i);
  }
  find_owners(router);
}

// By the paths to the same GPU of another host, which are on its rail.
void NicFailover::find_owners(const Router& router) {
  const auto next = std::ranges::find_if(host_of_, [&](int host) { return host != host_of_.front(); });
  if (next == host_of_.end()) return;
  const auto per_host = static_cast<std::size_t>(next - host_of_.begin());
  std::vector<Hop> hops;
  for (std::size_t rank = 0; rank < host_of_.size(); ++rank) {
    const std::size_t other = rank < per_host ? rank + per_host : rank % per_host;
    if (host_of_[rank] < 0) return;
    router.route({.from = RankId(rank), .to = RankId(other)}, hops);
    for (Nic& nic : hosts_[static_cast<std::size_t>(host_of_[rank])]) {
      const bool crossed =
          std::ranges::any_of(hops, [&](const Hop& hop) { return std::ranges::count(nic.cables, hop.link) > 0; });
      if (crossed && nic.owner < 0) nic.owner = static_cast<int>(rank);
    }
  }
}

const NicFailover::Failing* NicFailover::find_failed(std::span<const Hop> hops, const LinksDown& down) const {
  for (const Hop& hop : hops) {
    const auto cable = down[hop.link.index()] ? failing_.find(hop.link) : failing_.end();
    if (cable != failing_.end()) return &cable->second;
  }
  return nullptr;
}

std::vector<std::size_t> NicFailover::stand_ins(const RouteQuery& query, const Failing& failed) const {
  const auto host = [&](RankId rank) -> const Nics& {
    return hosts_[static_cast<std::size_t>(host_of_[rank.index()])];
  };
  const Nics& here = host(query.from);
  const Nics& there = host(query.to);
  const auto is_up = [&](const Nic& nic) {
    const bool down = std::ranges::any_of(nic.cables, [&](LinkId link) { return (*query.down)[link.index()]; });
    return nic.owner >= 0 && !down;
  };
  const std::size_t count = std::min(here.size(), there.size());
  std::vector<std::size_t> numbers;
  for (std::size_t i = 1; i < count; ++i) {
    const std::size_t number = (static_cast<std::size_t>(failed.nic) + i) % count;
    if (is_up(here[number]) && is_up(there[number])) numbers.push_back(number);
  }
  if (failed.mode == FailoverMode::kMigrate && !numbers.empty()) numbers.resize(1);
  return numbers;
}

Duration NicFailover::over(const Router& router, const RouteQuery& query, const Detour& detour,
                           std::vector<Hop>& hops) const {
  const auto stand_in = [&](RankId rank) {
    const int host = host_of_[rank.index()];
    if (detour.ends == Ends::kFailed && host != detour.failed_host) return rank;
    return RankId(static_cast<std::size_t>(hosts_[static_cast<std::size_t>(host)][detour.number].owner));
  };
  const std::array stops = {query.from, stand_in(query.from), stand_in(query.to), query.to};
  hops.clear();
  Duration whole;
  std::vector<Hop> part;
  for (std::size_t i = 0; i + 1 < stops.size(); ++i) {
    if (stops[i] == stops[i + 1]) continue;
    whole += router.route({.from = stops[i], .to = stops[i + 1], .label = query.label, .down = query.down}, part);
    add_part(part, hops);
  }
  return whole;
}

Duration NicFailover::route(const Router& router, const RouteQuery& query, std::vector<Hop>& hops) const {
  const Duration direct = router.route(query, hops);
  if (query.route_kind != RouteKind::kWhole && query.route_kind != RouteKind::kPxn) return direct;
  const Failing* const failed = find_failed(hops, *query.down);
  if (failed == nullptr) return direct;
  const std::vector<std::size_t> numbers = stand_ins(query, *failed);
  if (numbers.empty()) return direct;
  hops.clear();
  Duration latency;
  std::vector<Hop> part;
  for (const std::size_t number : numbers) {
    const bool replans = failed->mode == FailoverMode::kReplan && host_of_[query.from.index()] == failed->host;
    Detour detour{.number = number, .failed_host = failed->host, .ends = replans ? Ends::kFailed : Ends::kBoth};
    Duration whole = over(router, query, detour, part);
    if (replans && find_failed(part, *query.down) != nullptr) {
      detour.ends = Ends::kBoth;
      whole = over(router, query, detour, part);
    }
    add_part(part, hops);
    latency = std::max(latency, whole);
  }
  for (Hop& hop : hops) hop.share /= static_cast<double>(numbers.size());
  return latency;
}

}  // namespace ringwright::network_models
