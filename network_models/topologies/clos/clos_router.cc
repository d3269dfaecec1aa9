// Paths through a Clos network: up to the lowest common tier, down again; the policy picks among parallel links.
//
// Static, by the destination: p = its port number in its rail r of R, U uplinks a leaf, S spines a pod, V uplinks a
// spine: uplink p % U, then core link (p / S * R + r) % V. A shift loads all links of a tier equally, and rails differ
// by renaming only, because R normally divides V. D-mod-k includes the rail in the first choice: uplink (p + r) % U,
// then core link (g / U) % V with the GPU's number g. Going down, the links with the same numbers are taken.
//
// Links that are down: the uplink number is raised by one (mod U) until the whole path is up; on each uplink's spine
// the core link likewise, and downwards the next parallel link. Spraying skips links that are down and spreads evenly
// over all remaining paths.
#include "network_models/topologies/clos/clos_router.h"

#include <algorithm>
#include <array>
#include <utility>

namespace ringwright::network_models {

ClosRouter::ClosRouter(Inputs inputs)
    : block_(std::move(inputs.block)),
      shape_(inputs.shape),
      routing_(inputs.routing),
      capacities_(std::move(inputs.capacities)),
      links_(shape_, block_),
      into_leaf_(shape_.latency.nic + shape_.latency.cable),
      switched_(shape_.latency.hop + shape_.latency.cable),
      out_of_leaf_(shape_.latency.hop + shape_.latency.cable + shape_.latency.nic) {
  if (routing_.policy == RoutingPolicy::kSpray) pair_twins();
}

// All uplinks of a leaf; all core links of a pod.
void ClosRouter::pair_twins() {
  for (std::size_t link = 0; link < capacities_.size(); ++link) twins_.emplace_back(link);
  const auto pair = [this](std::uint32_t first, std::uint32_t ports) {
    for (std::uint32_t i = 0; i < 2 * ports; ++i) twins_[first + i] = LinkId(first + i % 2);
  };
  for (std::uint32_t leaf = 0; leaf < shape_.leaves(); ++leaf) pair(links_.uplink(leaf, 0), shape_.uplinks);
  const std::uint32_t core_links = shape_.spines * shape_.spine_uplinks;
  for (std::uint32_t pod = 0; core_links > 0 && pod < shape_.pods; ++pod) {
    pair(links_.core_link(pod, 0, 0), core_links);
  }
}

ClosRouter::End ClosRouter::locate(std::uint32_t host, std::uint32_t gpu, std::uint32_t nic) const {
  const std::uint32_t rail = links_.rail_of(nic);
  const std::uint32_t group = host / shape_.group;
  return {.host = host,
          .gpu = gpu,
          .nic = nic,
          .rail = rail,
          .leaf = links_.leaf(group, rail),
          .pod = links_.pod(group, rail)};
}

// Where rails are not connected, bytes change rails inside the sender's host: over the GPU of the NIC that has the
// number of the incoming one.
NicEnds ClosRouter::nics_of(const RouteQuery& query, const HostEnds& ends) const {
  NicEnds nics = block_.nics(query, ends);
  if (shape_.pod_kind != PodKind::kRail || links_.rail_of(nics.out) == links_.rail_of(nics.in)) return nics;
  // Both hosts must have it; the reader of faults rejects hosts without a common rail.
  for (std::uint32_t nic = 0; nic < block_.nics() && !block_.has_nic(ends.from_host, nics.in); ++nic) {
    if (block_.has_nic(ends.from_host, nic) && block_.has_nic(ends.to_host, nic)) nics.in = nic;
  }
  nics.relay = block_.gpu_next_to(ends.from_host, {.nic = nics.in, .wanted = ends.to_gpu, .from = ends.from_gpu});
  nics.out = nics.in;
  return nics;
}

Duration ClosRouter::route(const RouteQuery& query, std::vector<Hop>& hops) const {
  PathBuilder builder(hops, query.route_kind);
  const HostEnds ends = block_.begin(query, builder);
  if (ends.inside) return builder.latency();
  const NicEnds nics = nics_of(query, ends);
  const End from = locate(ends.from_host, nics.relay, nics.out);
  const End to = locate(ends.to_host, ends.to_gpu, nics.in);
  const PortPairs ports = port_pairs(query, from, to);
  const double share = ports.share();
  if (builder.up_wanted()) {
    block_.leave(ends, nics, builder);
    for (const PortPair& pair : ports.all()) builder.add(links_.cable(from.host, from.nic, pair.out), share);
    builder.wait(into_leaf_ + block_.more_nic_latency(from.host));
  }
  const Crossings crossings = find_crossings(ports, from, to);
  if (crossings.count > 0) between_leaves(query, crossings, builder);
  if (builder.down_wanted()) {
    const std::size_t since = builder.size();
    for (const PortPair& pair : ports.all()) {
      builder.add_share(since, links_.cable(to.host, to.nic, pair.in) + 1, share);
    }
    builder.wait(out_of_leaf_ + block_.more_nic_latency(to.host));
    block_.enter(ends, nics, builder);
  }
  return builder.latency();
}

// Traffic stays on its side of a pair of leaves, as in the two planes of HPN. Around links that are down it leaves by
// the ports that have a path, and crosses over where the receiver's port on that side has none.
ClosRouter::PortPairs ClosRouter::port_pairs(const RouteQuery& query, const End& from, const End& to) const {
  PortPairs healthy;
  for (std::uint32_t port = 0; port < shape_.nic_ports; ++port) healthy.add({.out = port, .in = port});
  if (query.down == nullptr || shape_.nic_ports == 1) return healthy;
  PortPairs left;
  for (std::uint32_t out = 0; out < shape_.nic_ports; ++out) {
    for (std::uint32_t i = 0; i < shape_.nic_ports; ++i) {
      const PortPair pair{.out = out, .in = (out + i) % shape_.nic_ports};
      if (!is_usable(pair, crossing_of(pair, from, to), *query.down)) continue;
      left.add(pair);
      break;
    }
  }
  return left.count > 0 ? left : healthy;
}

ClosRouter::Crossing ClosRouter::crossing_of(const PortPair& pair, const End& from, const End& to) {
  Crossing crossing{.from = from, .to = to};
  crossing.from.leaf += pair.out;
  crossing.to.leaf += pair.in;
  return crossing;
}

bool ClosRouter::is_usable(const PortPair& pair, const Crossing& ends, const LinksDown& down) const {
  if (down[links_.cable(ends.from.host, ends.from.nic, pair.out)]) return false;
  if (down[links_.cable(ends.to.host, ends.to.nic, pair.in) + 1]) return false;
  return ends.from.leaf == ends.to.leaf || has_path(ends, down);
}

ClosRouter::Crossings ClosRouter::find_crossings(const PortPairs& ports, const End& from, const End& to) {
  Crossings crossings{.parts = {}, .count = 0, .share = ports.share()};
  for (const PortPair& pair : ports.all()) {
    const Crossing crossing = crossing_of(pair, from, to);
    if (crossing.from.leaf != crossing.to.leaf) crossings.parts[crossings.count++] = crossing;
  }
  return crossings;
}

ClosRouter::ParallelLinks ClosRouter::static_links(const End& to) const {
  const bool d_mod_k = routing_.policy == RoutingPolicy::kDModK;
  const std::uint32_t port = to.host * shape_.nics_per_rail() + links_.place_of(to.nic);
  ParallelLinks links_taken;
  links_taken.up = (port + (d_mod_k ? to.rail : 0)) % shape_.uplinks;
  links_taken.down = links_taken.up;
  if (shape_.spine_uplinks > 0) {
    const std::uint32_t number =
        d_mod_k ? (to.host * block_.gpus() + to.gpu) / shape_.uplinks : port / shape_.spines * shape_.rails + to.rail;
    links_taken.core_up = number % shape_.spine_uplinks;
    links_taken.core_down = links_taken.core_up;
  }
  return links_taken;
}

// A spine has `uplinks / spines` links to a leaf, a core `spine_uplinks / cores` to a spine; each switch on the path
// hashes with other bits, so choices are independent.
ClosRouter::ParallelLinks ClosRouter::hashed_links(std::uint64_t hash) const {
  const auto low = [](std::uint64_t bits) { return static_cast<std::uint32_t>(bits); };
  const auto high = [](std::uint64_t bits) { return static_cast<std::uint32_t>(bits >> 32U); };
  const std::uint64_t again = splitmix64(hash);
  ParallelLinks links_taken;
  links_taken.up = pick(low(hash), shape_.uplinks);
  links_taken.down = links_taken.up % shape_.spines + shape_.spines * pick(low(again), shape_.uplinks / shape_.spines);
  if (shape_.spine_uplinks > 0) {
    links_taken.core_up = pick(high(hash), shape_.spine_uplinks);
    links_taken.core_down =
        links_taken.core_up % shape_.cores + shape_.cores * pick(high(again), shape_.spine_uplinks / shape_.cores);
  }
  return links_taken;
}

ClosRouter::ParallelLinks ClosRouter::links_for(ParallelLinks wanted, const Crossing& crossing,
                                                const LinksDown* down) const {
  wanted.from_leaf = crossing.from.leaf;
  wanted.to_leaf = crossing.to.leaf;
  return down == nullptr ? wanted : healthy_links(wanted, crossing.from, crossing.to, *down);
}

void ClosRouter::between_leaves(const RouteQuery& query, const Crossings& crossings, PathBuilder& builder) const {
  const End& to = crossings.parts.front().to;
  const std::int64_t tiers = crossings.parts.front().from.pod == to.pod ? 1 : 2;
  if (builder.up_wanted()) builder.wait(switched_ * tiers);
  if (builder.down_wanted()) builder.wait(switched_ * tiers);
  switch (routing_.policy) {
    case RoutingPolicy::kStatic:
    case RoutingPolicy::kDModK: {
      const ParallelLinks wanted = static_links(to);
      std::array<ParallelLinks, kMaxPorts> paths;
      for (std::uint32_t i = 0; i < crossings.count; ++i) {
        paths[i] = links_for(wanted, crossings.parts[i], query.down);
      }
      return add_paths(std::span(paths).first(crossings.count), crossings, builder);
    }
    case RoutingPolicy::kEcmp: {
      std::array<ParallelLinks, std::size_t{kMaxPorts} * kMaxQueuePairs> paths;
      const auto pairs = static_cast<std::uint32_t>(routing_.queue_pairs);
      const std::uint32_t count = pairs * crossings.count;
      for (std::uint32_t i = 0; i < count; ++i) {
        const ParallelLinks wanted = hashed_links(flow_hash(query, routing_.hash_seed, i));
        paths[i] = links_for(wanted, crossings.parts[i / pairs], query.down);
      }
      return add_paths(std::span(paths).first(count), crossings, builder);
    }
    case RoutingPolicy::kSpray:
      if (query.down != nullptr && add_healthy_paths(crossings, *query.down, builder)) return;
      return add_all_paths(crossings, query.first_of_twins, builder);
  }
}

// Tier by tier, so that hops stay in order; paths that share a link add their shares on it.
void ClosRouter::add_paths(std::span<const ParallelLinks> paths, const Crossings& crossings,
                           PathBuilder& builder) const {
  const double whole = crossings.share * static_cast<double>(crossings.count);
  const double share = whole / static_cast<double>(paths.size());
  const auto add_tier = [&](const auto& link_of) {
    const std::size_t since = builder.size();
    for (const ParallelLinks& links_taken : paths) builder.add_share(since, link_of(links_taken), share);
  };
  const std::uint32_t from_pod = crossings.parts.front().from.pod;
  const std::uint32_t to_pod = crossings.parts.front().to.pod;
  const bool over_core = from_pod != to_pod;
  if (builder.up_wanted()) {
    add_tier([&](const ParallelLinks& links_taken) { return links_.uplink(links_taken.from_leaf, links_taken.up); });
    if (over_core) {
      add_tier([&](const ParallelLinks& links_taken) {
        return links_.core_link(from_pod, links_taken.up % shape_.spines, links_taken.core_up);
      });
    }
  }
  if (builder.down_wanted()) {
    if (over_core) {
      add_tier([&](const ParallelLinks& links_taken) {
        return links_.core_link(to_pod, links_taken.up % shape_.spines, links_taken.core_down) + 1;
      });
    }
    add_tier([&](const ParallelLinks& links_taken) {
      return links_.uplink(links_taken.to_leaf, links_taken.down) + 1;
    });
  }
}

void ClosRouter::add_all_paths(const Crossings& crossings, bool first_of_twins, PathBuilder& builder) const {
  const std::uint32_t from_pod = crossings.parts.front().from.pod;
  const std::uint32_t to_pod = crossings.parts.front().to.pod;
  const std::uint32_t core_links = from_pod == to_pod ? 0 : shape_.spines * shape_.spine_uplinks;
  const double parts = static_cast<double>(crossings.count);
  const auto add_tier = [&builder, first_of_twins](std::uint32_t first, std::uint32_t count, double traffic) {
    const std::uint32_t ports = first_of_twins ? std::min(count, 1U) : count;
    for (std::uint32_t port = 0; port < ports; ++port) {
      builder.add(first + 2 * port, traffic / static_cast<double>(count));
    }
  };
  if (builder.up_wanted()) {
    for (const Crossing& each : crossings.all()) {
      add_tier(links_.uplink(each.from.leaf, 0), shape_.uplinks, crossings.share);
    }
    add_tier(links_.core_link(from_pod, 0, 0), core_links, crossings.share * parts);
  }
  if (builder.down_wanted()) {
    add_tier(links_.core_link(to_pod, 0, 0) + 1, core_links, crossings.share * parts);
    for (const Crossing& each : crossings.all()) {
      add_tier(links_.uplink(each.to.leaf, 0) + 1, shape_.uplinks, crossings.share);
    }
  }
}

}  // namespace ringwright::network_models
