// Paths through an explicit network, from the number of links between every node and every GPU.
#include "network_models/topologies/graph/graph_router.h"

#include <algorithm>
#include <limits>
#include <map>

#include "core/base/check.h"

namespace ringwright::network_models {
namespace {

constexpr std::uint16_t kUnreachable = std::numeric_limits<std::uint16_t>::max();

// The height of a node: the apex of a path is its highest switch, the first of equals.
int height_in_graph(NodeKind kind) {
  switch (kind) {
    case NodeKind::kPcieSwitch: return 1;
    case NodeKind::kRootComplex: return 2;
    case NodeKind::kNvSwitch: return 3;
    case NodeKind::kLeaf:
    case NodeKind::kSwitch: return 4;
    case NodeKind::kSpine: return 5;
    case NodeKind::kCore: return 6;
    case NodeKind::kGpu:
    case NodeKind::kHostMemory:
    case NodeKind::kNic:
    case NodeKind::kStorage: return 0;
  }
  return 0;
}

}  // namespace

GraphRouter::GraphRouter(const Fabric& fabric, const Settings& settings)
    : routing_(settings.routing), capacities_(fabric.capacities().begin(), fabric.capacities().end()) {
  const std::size_t nodes = fabric.node_count();
  for (std::size_t i = 0; i < nodes; ++i) kinds_.push_back(fabric.node(NodeId(i)).kind);
  for (const NodeId gpu : fabric.gpus()) gpus_.push_back(gpu.value);
  first_out_.assign(nodes + 1, 0);
  for (std::size_t i = 0; i < fabric.link_count(); ++i) ++first_out_[fabric.link(LinkId(i)).from.index() + 1];
  for (std::size_t i = 0; i < nodes; ++i) first_out_[i + 1] += first_out_[i];
  outs_.resize(fabric.link_count());
  std::vector<std::uint32_t> next(first_out_.begin(), first_out_.end() - 1);
  for (std::size_t i = 0; i < fabric.link_count(); ++i) {
    const LinkSpec& link = fabric.link(LinkId(i));
    outs_[next[link.from.index()]++] = {
        .link = static_cast<std::uint32_t>(i), .to = link.to.value, .latency = link.latency};
  }
  measure(fabric, settings.transit);
}

// Breadth first from each GPU against the links' direction.
void GraphRouter::measure(const Fabric& fabric, GpuTransit transit) {
  std::vector<std::vector<std::uint32_t>> into(kinds_.size());
  for (std::size_t i = 0; i < fabric.link_count(); ++i) {
    into[fabric.link(LinkId(i)).to.index()].push_back(fabric.link(LinkId(i)).from.value);
  }
  distances_.assign(gpus_.size() * kinds_.size(), kUnreachable);
  std::vector<std::uint32_t> reached;
  for (std::size_t rank = 0; rank < gpus_.size(); ++rank) {
    const auto far = std::span(distances_).subspan(rank * kinds_.size(), kinds_.size());
    reached.assign(1, gpus_[rank]);
    far[gpus_[rank]] = 0;
    for (std::size_t i = 0; i < reached.size(); ++i) {
      const std::uint32_t here = reached[i];
      if (i > 0 && transit == GpuTransit::kForbidden && kinds_[here] == NodeKind::kGpu) continue;
      for (const std::uint32_t before : into[here]) {
        if (far[before] != kUnreachable) continue;
        far[before] = static_cast<std::uint16_t>(far[here] + 1);
        reached.push_back(before);
      }
    }
  }
}

std::vector<std::pair<RankId, RankId>> GraphRouter::unreachable(std::size_t most) const {
  std::vector<std::pair<RankId, RankId>> pairs;
  for (std::uint32_t from = 0; from < gpus_.size(); ++from) {
    for (std::uint32_t to = 0; to < gpus_.size() && pairs.size() < most; ++to) {
      if (distance(gpus_[from], to) == kUnreachable) pairs.emplace_back(RankId(from), RankId(to));
    }
  }
  return pairs;
}

// Breadth first from the sender along nearer links; a node leads on when one of its links does.
class GraphRouter::Detour {
 public:
  Detour(const GraphRouter& router, const RouteQuery& query)
      : router_(router), to_rank_(query.to.value), down_(query.down) {
    if (down_ == nullptr) return;
    std::vector<std::uint32_t> ahead = {router.gpus_[query.from.value]};
    for (std::size_t i = 0; i < ahead.size(); ++i) {
      if (!leads_on_.emplace(ahead[i], distance(ahead[i]) == 0).second) continue;
      for (const Out& o : router.out(ahead[i])) {
        if (is_nearer(ahead[i], o)) ahead.push_back(o.to);
      }
    }
    std::ranges::stable_sort(ahead, {}, [this](std::uint32_t node) { return distance(node); });
    for (const std::uint32_t node : ahead) {
      for (const Out& o : router.out(node)) {
        if (is_nearer(node, o) && !(*down_)[o.link] && leads_on_[o.to]) leads_on_[node] = true;
      }
    }
    if (!leads_on_[router.gpus_[query.from.value]]) down_ = nullptr;  // no path is left
  }
  // Whether a link of the node is on an allowed shortest path.
  [[nodiscard]] bool allows(std::uint32_t node, const Out& o) const {
    return is_nearer(node, o) && (down_ == nullptr || (!(*down_)[o.link] && leads_on_.at(o.to)));
  }

 private:
  [[nodiscard]] int distance(std::uint32_t node) const { return router_.distance(node, to_rank_); }
  [[nodiscard]] bool is_nearer(std::uint32_t node, const Out& o) const { return distance(o.to) + 1 == distance(node); }

  const GraphRouter& router_;
  std::uint32_t to_rank_;
  const LinksDown* down_;
  std::map<std::uint32_t, bool> leads_on_;
};

std::uint32_t GraphRouter::nearer_count(std::uint32_t node, const Detour& detour) const {
  const auto links = out(node);
  return static_cast<std::uint32_t>(
      std::count_if(links.begin(), links.end(), [&](const Out& o) { return detour.allows(node, o); }));
}

const GraphRouter::Out& GraphRouter::nearer(std::uint32_t node, std::uint32_t which, const Detour& detour) const {
  const Out* found = nullptr;
  for (const Out& o : out(node)) {
    if (detour.allows(node, o) && which-- == 0) {
      found = &o;
      break;
    }
  }
  CHECK(found != nullptr, "ranks that exchange data can reach each other: the reader of graphs has checked it");
  return *found;
}

GraphRouter::Walk GraphRouter::walk(const RouteQuery& query, std::uint32_t queue_pair,
                                    const Detour& detour) const {
  Walk walk;
  std::uint64_t hash = flow_hash(query, routing_.hash_seed, queue_pair);
  const std::uint32_t to = query.to.value;
  int highest = 0;
  for (std::uint32_t node = gpus_[query.from.value]; node != gpus_[to];) {
    const std::uint32_t paths = nearer_count(node, detour);
    std::uint32_t which = to % std::max(paths, 1U);
    if (routing_.policy == RoutingPolicy::kEcmp) {
      which = pick(static_cast<std::uint32_t>(hash), paths);
      hash = splitmix64(hash);
    }
    const Out& taken = nearer(node, which, detour);
    walk.links.push_back(taken.link);
    walk.latencies.push_back(taken.latency);
    node = taken.to;
    if (height_in_graph(kinds_[node]) > highest) {
      highest = height_in_graph(kinds_[node]);
      walk.apex = walk.links.size();
    }
  }
  if (highest == 0) walk.apex = walk.links.size();
  return walk;
}

// All shortest paths have the same number of links, so shares propagate layer by layer.
void GraphRouter::spray(const RouteQuery& query, const Walk& pattern, const Detour& detour,
                        PathBuilder& builder) const {
  std::map<std::uint32_t, double> layer = {{gpus_[query.from.value], 1.0}};
  for (std::size_t depth = 0; depth < pattern.links.size(); ++depth) {
    const bool wanted = depth < pattern.apex ? builder.up_wanted() : builder.down_wanted();
    std::map<std::uint32_t, double> next;
    for (const auto& [node, share] : layer) {
      const std::uint32_t paths = nearer_count(node, detour);
      for (std::uint32_t which = 0; which < paths; ++which) {
        const Out& taken = nearer(node, which, detour);
        next[taken.to] += share / paths;
        if (wanted) builder.add(taken.link, share / paths);
      }
    }
    layer = std::move(next);
  }
}

Duration GraphRouter::route(const RouteQuery& query, std::vector<Hop>& hops) const {
  PathBuilder builder(hops, query.route_kind);
  const Detour detour(*this, query);
  const Walk pattern = walk(query, 0, detour);
  const std::size_t begin = builder.up_wanted() ? 0 : pattern.apex;
  const std::size_t end = builder.down_wanted() ? pattern.links.size() : pattern.apex;
  if (routing_.policy == RoutingPolicy::kSpray) {
    spray(query, pattern, detour, builder);
  } else {
    const bool hashed = routing_.policy == RoutingPolicy::kEcmp;
    std::vector<Walk> walks = {pattern};
    for (int pair = 1; hashed && pair < routing_.queue_pairs; ++pair) {
      walks.push_back(walk(query, static_cast<std::uint32_t>(pair), detour));
    }
    for (std::size_t depth = begin; depth < end; ++depth) {
      const std::size_t since = builder.size();
      for (const Walk& w : walks) builder.add_share(since, w.links[depth], 1.0 / static_cast<double>(walks.size()));
    }
  }
  for (std::size_t depth = begin; depth < end; ++depth) builder.wait(pattern.latencies[depth]);
  return builder.latency();
}

}  // namespace ringwright::network_models
