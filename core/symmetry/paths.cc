// Finds the paths of all flows: count, lay out, fill; the result does not depend on the number of threads.
#include "core/symmetry/paths.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "core/base/check.h"

namespace ringwright {
namespace {

// What is routed, and how.
struct Routed {
  const Footprint& footprint;
  const Router& router;
  TwinHops twins;
};

Duration route_edge(const Routed& routed, std::size_t rank, std::uint64_t edge_index, std::vector<Hop>& hops) {
  const Edge& edge = routed.footprint.edges[edge_index];
  hops.clear();
  if (!edge.starts_flow) return {};
  const bool down = edge.route_kind == RouteKind::kDownFromSwitch;
  return routed.router.route({.from = down ? edge.peer : RankId(rank),
                              .to = down ? RankId(rank) : edge.peer,
                              .route_kind = edge.route_kind,
                              .nics = edge.nics,
                              .label = edge.label,
                              .first_of_twins = routed.twins == TwinHops::kFirst},
                             hops);
}

// Adds a share that is not among the known ones; nearly always there is one share.
void note_share(std::vector<std::uint64_t>& shares, double share) {
  const auto bits = std::bit_cast<std::uint64_t>(share);
  if (std::ranges::find(shares, bits) == shares.end()) shares.push_back(bits);
}

std::uint16_t index_of(const std::vector<std::uint64_t>& shares, double share) {
  return static_cast<std::uint16_t>(std::ranges::lower_bound(shares, std::bit_cast<std::uint64_t>(share)) -
                                    shares.begin());
}

// Latencies, shares, and in first_hop[e + 1] the number of hops of edge e.
void count_hops(const Routed& routed, Paths& paths) {
  const Footprint& footprint = routed.footprint;
  const auto ranks = static_cast<std::ptrdiff_t>(footprint.first_edge.size()) - 1;
#pragma omp parallel if (ranks >= kRanksWorthThreads)
  {
    std::vector<Hop> hops;
    std::vector<std::uint64_t> shares;
#pragma omp for schedule(static)
    for (std::ptrdiff_t r = 0; r < ranks; ++r) {
      const auto rank = static_cast<std::size_t>(r);
      for (std::uint64_t e = footprint.first_edge[rank]; e < footprint.first_edge[rank + 1]; ++e) {
        paths.latency[e] = route_edge(routed, rank, e, hops).count();
        paths.first_hop[e + 1] = hops.size();
        for (const Hop& hop : hops) note_share(shares, hop.share);
      }
    }
#pragma omp critical
    paths.shares.insert(paths.shares.end(), shares.begin(), shares.end());
  }
  // Sorted, so that the result does not depend on the order of the threads.
  std::ranges::sort(paths.shares);
  // Not std::ranges::unique, whose sub-range clang 14 cannot read.
  paths.shares.erase(std::unique(paths.shares.begin(), paths.shares.end()), paths.shares.end());
  CHECK(paths.shares.size() <= std::numeric_limits<std::uint16_t>::max(), "distinct shares are few");
}

void fill_hops(const Routed& routed, Paths& paths) {
  const Footprint& footprint = routed.footprint;
  const auto ranks = static_cast<std::ptrdiff_t>(footprint.first_edge.size()) - 1;
#pragma omp parallel if (ranks >= kRanksWorthThreads)
  {
    std::vector<Hop> hops;
#pragma omp for schedule(static)
    for (std::ptrdiff_t r = 0; r < ranks; ++r) {
      const auto rank = static_cast<std::size_t>(r);
      for (std::uint64_t e = footprint.first_edge[rank]; e < footprint.first_edge[rank + 1]; ++e) {
        if (!footprint.edges[e].starts_flow) continue;
        route_edge(routed, rank, e, hops);
        std::uint64_t at = paths.first_hop[e];
        for (const Hop& hop : hops) {
          paths.link[at] = hop.link;
          paths.share[at++] = index_of(paths.shares, hop.share);
        }
      }
    }
  }
}

// For few ranks: arrays may grow.
Paths gather_hops(const Routed& routed) {
  const Footprint& footprint = routed.footprint;
  Paths paths;
  paths.first_hop.reserve(footprint.edges.size() + 1);
  paths.latency.reserve(footprint.edges.size());
  std::vector<std::uint64_t> shares;  // by hop
  std::vector<Hop> hops;
  for (std::size_t rank = 0; rank + 1 < footprint.first_edge.size(); ++rank) {
    for (std::uint64_t e = footprint.first_edge[rank]; e < footprint.first_edge[rank + 1]; ++e) {
      paths.first_hop.push_back(paths.link.size());
      paths.latency.push_back(route_edge(routed, rank, e, hops).count());
      for (const Hop& hop : hops) {
        paths.link.push_back(hop.link);
        shares.push_back(std::bit_cast<std::uint64_t>(hop.share));
        note_share(paths.shares, hop.share);
      }
    }
  }
  paths.first_hop.push_back(paths.link.size());
  std::ranges::sort(paths.shares);
  CHECK(paths.shares.size() <= std::numeric_limits<std::uint16_t>::max(), "distinct shares are few");
  for (const std::uint64_t share : shares) paths.share.push_back(index_of(paths.shares, std::bit_cast<double>(share)));
  return paths;
}

}  // namespace

Paths find_paths(const Footprint& footprint, const Router& router, TwinHops twins) {
  const Routed routed{.footprint = footprint, .router = router, .twins = twins};
  constexpr std::size_t kFewRanks = 1 << 14;
  if (footprint.first_edge.size() <= kFewRanks) return gather_hops(routed);
  Paths paths;
  paths.first_hop.assign(footprint.edges.size() + 1, 0);
  paths.latency.assign(footprint.edges.size(), 0);
  count_hops(routed, paths);
  for (std::size_t edge = 0; edge < footprint.edges.size(); ++edge) paths.first_hop[edge + 1] += paths.first_hop[edge];
  paths.link.resize(paths.first_hop.back());
  paths.share.resize(paths.first_hop.back());
  fill_hops(routed, paths);
  return paths;
}

}  // namespace ringwright
