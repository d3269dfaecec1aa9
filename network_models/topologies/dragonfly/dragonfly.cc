// A dragonfly: numbering, building, and routing over at most one global link (minimal) or two (Valiant).
//
// Global link j of L between groups a and b starts at switch (i L + j) % E of group a, where b is the i-th of the other
// groups and E of its switches have any; so the links of a group are distributed evenly. Paths of one flow are
// numbered; a static flow takes the one with its destination's number, a hashed one by its hash, spraying takes all of
// them. Adaptive (UGAL: minimal while its queues are short) is a fixed split, because a path depends on its ends alone.
#include "network_models/topologies/central_router.h"
#include "network_models/topologies/dragonfly/dragonfly.h"

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "network_models/host/host_block.h"
#include "network_models/topologies/cable_ends.h"

namespace ringwright::network_models {
namespace {

// Hosts' blocks, then NIC cables, then local links group by group, then global links pair by pair of groups. Every
// cable has two links: upward, or from the lower number to the higher, first.
class DragonflyLinks {
 public:
  DragonflyLinks(const DragonflyShape& shape, const HostBlock& block)
      : shape_(shape),
        first_nic_(block.first_nic()),
        first_switch_(block.first_node(shape.hosts)),
        first_cable_(block.first_link(shape.hosts)),
        first_local_(first_cable_ + 2 * first_nic_(shape.hosts)),
        first_global_(first_local_ + 2 * shape.groups * local_cables()) {}

  [[nodiscard]] std::uint32_t node(std::uint32_t group, std::uint32_t at_switch) const {
    return first_switch_ + group * shape_.switches() + at_switch;
  }
  [[nodiscard]] std::uint32_t cable(std::uint32_t host, std::uint32_t nic) const {
    return first_cable_ + 2 * (first_nic_(host) + nic);
  }
  // Cables of a group between its switches.
  [[nodiscard]] std::uint32_t local_cables() const {
    const std::uint32_t pairs =
        shape_.spines > 0 ? shape_.leaves * shape_.spines : shape_.leaves * (shape_.leaves - 1) / 2;
    return pairs * shape_.local_links;
  }
  // From one switch of a group to another that it is connected to.
  [[nodiscard]] std::uint32_t local(std::uint32_t group, std::uint32_t from, std::uint32_t to,
                                    std::uint32_t cable) const {
    const std::uint32_t low = std::min(from, to);
    const std::uint32_t high = std::max(from, to);
    const std::uint32_t pair =
        shape_.spines > 0 ? low * shape_.spines + (high - shape_.leaves) : high * (high - 1) / 2 + low;
    const std::uint32_t cable_number = group * local_cables() + pair * shape_.local_links + cable;
    return first_local_ + 2 * cable_number + (from < to ? 0 : 1);
  }
  [[nodiscard]] std::uint32_t global(std::uint32_t from, std::uint32_t to, std::uint32_t cable) const {
    const std::uint32_t low = std::min(from, to);
    const std::uint32_t high = std::max(from, to);
    return first_global_ + 2 * ((high * (high - 1) / 2 + low) * shape_.global_links + cable) + (from < to ? 0 : 1);
  }
  // The switch of `group` at which that global link ends.
  [[nodiscard]] std::uint32_t gateway(std::uint32_t group, std::uint32_t other, std::uint32_t cable) const {
    const std::uint32_t place = other > group ? other - 1 : other;
    return (shape_.spines > 0 ? shape_.leaves : 0) + (place * shape_.global_links + cable) % shape_.gateways();
  }

 private:
  DragonflyShape shape_;
  HostOffsets first_nic_;
  std::uint32_t first_switch_;
  std::uint32_t first_cable_;
  std::uint32_t first_local_;
  std::uint32_t first_global_;
};

// Links between the switches of the two ends.
struct Path {
  static constexpr std::size_t kMost =
      12;  // 2 global links and 3 groups with a detour of 2 links in each, with margin
  std::array<std::uint32_t, kMost> links = {};
  std::size_t count = 0;
  std::size_t globals = 0;

  void add(std::uint32_t link) {
    DCHECK(count < kMost, "a path through a dragonfly is short");
    links[count++] = link;
  }
  [[nodiscard]] bool down(const LinksDown& state) const {
    return std::any_of(links.begin(), links.begin() + static_cast<std::ptrdiff_t>(count),
                       [&](std::uint32_t link) { return state[link]; });
  }
};

class DragonflyRouter final : public Router {
 public:
  DragonflyRouter(const DragonflyPlan& plan, HostBlock block, std::span<const Bandwidth> capacities)
      : block_(std::move(block)),
        shape_(plan.shape),
        routing_(plan.routing),
        links_(shape_, block_),
        capacities_(capacities.begin(), capacities.end()) {}

  // No switch of a dragonfly is above the others: the sender's is taken as the apex.
  Duration route(const RouteQuery& query, std::vector<Hop>& hops) const override;
  [[nodiscard]] std::span<const Bandwidth> capacities() const override { return capacities_; }

 private:
  struct End {
    std::uint32_t group = 0;
    std::uint32_t leaf = 0;
  };
  [[nodiscard]] End locate(std::uint32_t host) const {
    const std::uint32_t leaf = host / shape_.per_switch;
    return {.group = leaf / shape_.leaves, .leaf = leaf % shape_.leaves};
  }
  [[nodiscard]] std::uint32_t minimal_routes(const End& from, const End& to) const {
    if (from.group != to.group) return shape_.global_links * shape_.local_links;
    return std::max(shape_.spines, 1U) * shape_.local_links;
  }
  [[nodiscard]] std::uint32_t valiant_routes(const End& from, const End& to) const {
    return from.group == to.group || shape_.groups < 3 ? 0 : (shape_.groups - 2) * shape_.global_links;
  }
  [[nodiscard]] Path minimal(const End& from, const End& to, std::uint32_t route) const;
  [[nodiscard]] Path valiant(const End& from, const End& to, std::uint32_t route) const;
  void walk(std::uint32_t group, std::uint32_t from, std::uint32_t to, std::uint32_t route, Path& path) const;
  void between(const RouteQuery& query, const End& from, const End& to, PathBuilder& builder) const;
  template <class PathOf>
  Duration spread(const RouteQuery& query, std::uint32_t routes, double share, const PathOf& path_of,
                  PathBuilder& builder) const;

  HostBlock block_;
  DragonflyShape shape_;
  DragonflyRouting routing_;
  DragonflyLinks links_;
  std::vector<Bandwidth> capacities_;
};

Duration DragonflyRouter::route(const RouteQuery& query, std::vector<Hop>& hops) const {
  const auto across = [&](const HostEnds& ends, PathBuilder& builder) {
    between(query, locate(ends.from_host), locate(ends.to_host), builder);
  };
  return route_over_cables(query, block_, links_, shape_.latency, hops, across);
}

// Between two switches of a group; where they are not connected, over a leaf or a spine that both are connected to.
void DragonflyRouter::walk(std::uint32_t group, std::uint32_t from, std::uint32_t to, std::uint32_t route,
                           Path& path) const {
  if (from == to) return;
  const std::uint32_t cable = route % shape_.local_links;
  const bool joined = shape_.spines == 0 || (from < shape_.leaves) != (to < shape_.leaves);
  if (joined) return path.add(links_.local(group, from, to, cable));
  const bool over_spine = from < shape_.leaves;
  const std::uint32_t choice = route / shape_.local_links;
  const std::uint32_t middle = over_spine ? shape_.leaves + choice % shape_.spines : choice % shape_.leaves;
  path.add(links_.local(group, from, middle, cable));
  path.add(links_.local(group, middle, to, cable));
}

Path DragonflyRouter::minimal(const End& from, const End& to, std::uint32_t route) const {
  Path path;
  if (from.group == to.group) {
    walk(from.group, from.leaf, to.leaf, route, path);
    return path;
  }
  const std::uint32_t cable = route / shape_.local_links;
  walk(from.group, from.leaf, links_.gateway(from.group, to.group, cable), route, path);
  path.add(links_.global(from.group, to.group, cable));
  path.globals = 1;
  walk(to.group, links_.gateway(to.group, from.group, cable), to.leaf, route, path);
  return path;
}

// Over the path's third group. There the second link starts where the first ends, if such a link exists.
Path DragonflyRouter::valiant(const End& from, const End& to, std::uint32_t route) const {
  std::uint32_t third = route % (shape_.groups - 2);
  for (const std::uint32_t end : {std::min(from.group, to.group), std::max(from.group, to.group)})
    third += third >= end ? 1 : 0;
  const std::uint32_t first = route / (shape_.groups - 2);
  const std::uint32_t enters = links_.gateway(third, from.group, first);
  std::uint32_t second = first;
  for (std::uint32_t cable = 0; cable < shape_.global_links; ++cable) {
    const std::uint32_t candidate = (first + cable) % shape_.global_links;
    if (links_.gateway(third, to.group, candidate) != enters) continue;
    second = candidate;
    break;
  }
  Path path;
  walk(from.group, from.leaf, links_.gateway(from.group, third, first), route, path);
  path.add(links_.global(from.group, third, first));
  walk(third, enters, links_.gateway(third, to.group, second), route, path);
  path.add(links_.global(third, to.group, second));
  path.globals = 2;
  walk(to.group, links_.gateway(to.group, third, second), to.leaf, route, path);
  return path;
}

void DragonflyRouter::between(const RouteQuery& query, const End& from, const End& to, PathBuilder& builder) const {
  if (from.group == to.group && from.leaf == to.leaf) return;
  const std::uint32_t detours = routing_.paths == DragonflyPaths::kMinimal ? 0 : valiant_routes(from, to);
  double straight = detours == 0 ? 1.0 : 0.0;
  if (detours > 0 && routing_.paths == DragonflyPaths::kAdaptive) straight = routing_.minimal_share;
  Duration latency;
  if (straight > 0.0) {
    latency = spread(
        query, minimal_routes(from, to), straight, [&](std::uint32_t route) { return minimal(from, to, route); },
        builder);
  }
  if (straight < 1.0) {
    latency = std::max(latency, spread(
                                    query, detours, 1.0 - straight,
                                    [&](std::uint32_t route) { return valiant(from, to, route); }, builder));
  }
  builder.wait(latency);
}

// Adds `share` of the flow to the paths that the policy selects; the latency is that of the longest of them.
template <class PathOf>
Duration DragonflyRouter::spread(const RouteQuery& query, std::uint32_t routes, double share, const PathOf& path_of,
                                 PathBuilder& builder) const {
  std::vector<Path> taken;
  const auto take_from = [&](std::uint32_t first, std::uint32_t count) {  // the first that is up, else the first
    for (std::uint32_t tried = 0; tried < count; ++tried) {
      Path path = path_of((first + tried) % routes);
      if (query.down == nullptr || !path.down(*query.down)) {
        taken.push_back(path);
        return;
      }
    }
  };
  const Routing& among = routing_.among;
  if (among.policy == RoutingPolicy::kSpray) {
    for (std::uint32_t route = 0; route < routes; ++route) take_from(route, 1);
  } else if (among.policy == RoutingPolicy::kEcmp) {
    for (int pair = 0; pair < among.queue_pairs; ++pair) {
      const std::uint64_t hash = flow_hash(query, among.hash_seed, static_cast<std::uint32_t>(pair));
      take_from(pick(static_cast<std::uint32_t>(hash), routes), routes);
    }
  } else {
    take_from(query.to.value / block_.gpus() % routes, routes);
  }
  if (taken.empty()) taken.push_back(path_of(0));
  Duration longest;
  for (const Path& path : taken) {
    const auto between_switches = static_cast<std::int64_t>(path.count);
    const auto globals = static_cast<std::int64_t>(path.globals);
    const Duration latency = shape_.latency.hop * between_switches +
                             shape_.latency.cable * (between_switches - globals) + shape_.global_cable * globals;
    longest = std::max(longest, latency);
    for (std::size_t i = 0; i < path.count; ++i)
      builder.add_share(0, path.links[i], share / static_cast<double>(taken.size()));
  }
  return longest;
}

void add_local_links(Fabric& fabric, const DragonflyShape& shape, const DragonflyLinks& links) {
  const Duration switched = shape.latency.hop + shape.latency.cable;
  const auto join = [&](std::uint32_t group, std::uint32_t low, std::uint32_t high) {
    for (std::uint32_t cable = 0; cable < shape.local_links; ++cable) {
      const LinkId added = fabric.add_duplex({.from = NodeId(links.node(group, low)),
                                              .to = NodeId(links.node(group, high)),
                                              .bandwidth = shape.local_speed,
                                              .latency = switched});
      DCHECK(added.value == links.local(group, low, high, cable), "local links are numbered as in DragonflyLinks");
    }
  };
  for (std::uint32_t group = 0; group < shape.groups; ++group) {
    if (shape.spines > 0) {
      for (std::uint32_t leaf = 0; leaf < shape.leaves; ++leaf) {
        for (std::uint32_t spine = 0; spine < shape.spines; ++spine) join(group, leaf, shape.leaves + spine);
      }
      continue;
    }
    for (std::uint32_t high = 1; high < shape.leaves; ++high) {
      for (std::uint32_t low = 0; low < high; ++low) join(group, low, high);
    }
  }
}

void add_global_links(Fabric& fabric, const DragonflyShape& shape, const DragonflyLinks& links) {
  for (std::uint32_t high = 1; high < shape.groups; ++high) {
    for (std::uint32_t low = 0; low < high; ++low) {
      for (std::uint32_t cable = 0; cable < shape.global_links; ++cable) {
        const LinkId added = fabric.add_duplex({.from = NodeId(links.node(low, links.gateway(low, high, cable))),
                                                .to = NodeId(links.node(high, links.gateway(high, low, cable))),
                                                .bandwidth = shape.global_speed,
                                                .latency = shape.latency.hop + shape.global_cable});
        DCHECK(added.value == links.global(low, high, cable), "global links are numbered as in DragonflyLinks");
      }
    }
  }
}

}  // namespace

Network build_dragonfly(const DragonflyPlan& plan) {
  const HostBlock block(plan.host);
  const DragonflyShape& shape = plan.shape;
  const DragonflyLinks links(shape, block);
  const FabricLatency& latency = shape.latency;
  Network network;
  Fabric& fabric = network.fabric;
  block.append_hosts(fabric, shape.hosts);
  for (std::uint32_t group = 0; group < shape.groups; ++group) {
    for (std::uint32_t i = 0; i < shape.switches(); ++i) {
      fabric.add_node({.kind = i < shape.leaves ? NodeKind::kLeaf : NodeKind::kSpine,
                       .first = static_cast<std::int32_t>(group),
                       .second = static_cast<std::int32_t>(i < shape.leaves ? i : i - shape.leaves)});
    }
  }
  for (std::uint32_t host = 0; host < shape.hosts; ++host) {
    const std::uint32_t leaf = host / shape.per_switch;
    const NodeId at(links.node(leaf / shape.leaves, leaf % shape.leaves));
    const Bandwidth cable = plan.host.kind_at(host).nic.data_rate();
    const Duration through = latency.nic + block.more_nic_latency(host);
    for (std::uint32_t nic = 0; nic < block.nics_at(host); ++nic) {
      const NodeId node = block.nic_node(host, nic);
      fabric.add_link({.from = node, .to = at, .bandwidth = cable, .latency = through + latency.cable});
      fabric.add_link(
          {.from = at, .to = node, .bandwidth = cable, .latency = latency.hop + latency.cable + through});
    }
  }
  add_local_links(fabric, shape, links);
  add_global_links(fabric, shape, links);
  network.router = std::make_unique<DragonflyRouter>(plan, block, fabric.capacities());
  return with_central_routing(std::move(network), plan.routing.among);
}

}  // namespace ringwright::network_models
