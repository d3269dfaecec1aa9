// Finding the ways of all flows: count, lay out, fill; the result does not depend on the number of threads.
#include "core/symmetry/ways.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "core/base/check.h"

namespace ringwright {
namespace {

Duration route_edge(const Footprint& footprint, std::size_t rank, std::uint64_t edge_index, const Router& router,
                    std::vector<Hop>& hops) {
  const Edge& edge = footprint.edges[edge_index];
  hops.clear();
  if (!edge.starts_flow) return {};
  const bool down = edge.reach == Reach::kDownFromSwitch;
  return router.route({.from = down ? edge.peer : RankId(rank),
                       .to = down ? RankId(rank) : edge.peer,
                       .reach = edge.reach,
                       .nics = edge.nics,
                       .label = edge.label},
                      hops);
}

// Notes a share that is not among the known ones; nearly always there is one.
void note_share(std::vector<std::uint64_t>& shares, double share) {
  const auto bits = std::bit_cast<std::uint64_t>(share);
  if (std::ranges::find(shares, bits) == shares.end()) shares.push_back(bits);
}

std::uint16_t index_of(const std::vector<std::uint64_t>& shares, double share) {
  return static_cast<std::uint16_t>(std::ranges::lower_bound(shares, std::bit_cast<std::uint64_t>(share)) -
                                    shares.begin());
}

// Latencies, shares, and in first_hop[e + 1] the number of hops of edge e.
void count_hops(const Footprint& footprint, const Router& router, Ways& ways) {
  const auto ranks = static_cast<std::ptrdiff_t>(footprint.first_edge.size()) - 1;
#pragma omp parallel if (ranks >= kRanksWorthThreads)
  {
    std::vector<Hop> hops;
    std::vector<std::uint64_t> shares;
#pragma omp for schedule(static)
    for (std::ptrdiff_t r = 0; r < ranks; ++r) {
      const auto rank = static_cast<std::size_t>(r);
      for (std::uint64_t e = footprint.first_edge[rank]; e < footprint.first_edge[rank + 1]; ++e) {
        ways.latency[e] = route_edge(footprint, rank, e, router, hops).count();
        ways.first_hop[e + 1] = hops.size();
        for (const Hop& hop : hops) note_share(shares, hop.share);
      }
    }
#pragma omp critical
    ways.shares.insert(ways.shares.end(), shares.begin(), shares.end());
  }
  // Sorted, so that the order in which threads come by leaves no trace.
  std::ranges::sort(ways.shares);
  // Not std::ranges::unique, whose sub-range clang 14 cannot read.
  ways.shares.erase(std::unique(ways.shares.begin(), ways.shares.end()), ways.shares.end());
  CHECK(ways.shares.size() <= std::numeric_limits<std::uint16_t>::max(), "distinct shares are few");
}

void fill_hops(const Footprint& footprint, const Router& router, Ways& ways) {
  const auto ranks = static_cast<std::ptrdiff_t>(footprint.first_edge.size()) - 1;
#pragma omp parallel if (ranks >= kRanksWorthThreads)
  {
    std::vector<Hop> hops;
#pragma omp for schedule(static)
    for (std::ptrdiff_t r = 0; r < ranks; ++r) {
      const auto rank = static_cast<std::size_t>(r);
      for (std::uint64_t e = footprint.first_edge[rank]; e < footprint.first_edge[rank + 1]; ++e) {
        if (!footprint.edges[e].starts_flow) continue;
        route_edge(footprint, rank, e, router, hops);
        std::uint64_t at = ways.first_hop[e];
        for (const Hop& hop : hops) {
          ways.link[at] = hop.link;
          ways.share[at++] = index_of(ways.shares, hop.share);
        }
      }
    }
  }
}

// Of few ranks: arrays may grow.
Ways gather_hops(const Footprint& footprint, const Router& router) {
  Ways ways;
  ways.first_hop.reserve(footprint.edges.size() + 1);
  ways.latency.reserve(footprint.edges.size());
  std::vector<std::uint64_t> shares;  // by hop
  std::vector<Hop> hops;
  for (std::size_t rank = 0; rank + 1 < footprint.first_edge.size(); ++rank) {
    for (std::uint64_t e = footprint.first_edge[rank]; e < footprint.first_edge[rank + 1]; ++e) {
      ways.first_hop.push_back(ways.link.size());
      ways.latency.push_back(route_edge(footprint, rank, e, router, hops).count());
      for (const Hop& hop : hops) {
        ways.link.push_back(hop.link);
        shares.push_back(std::bit_cast<std::uint64_t>(hop.share));
        note_share(ways.shares, hop.share);
      }
    }
  }
  ways.first_hop.push_back(ways.link.size());
  std::ranges::sort(ways.shares);
  CHECK(ways.shares.size() <= std::numeric_limits<std::uint16_t>::max(), "distinct shares are few");
  for (const std::uint64_t share : shares) ways.share.push_back(index_of(ways.shares, std::bit_cast<double>(share)));
  return ways;
}

}  // namespace

Ways find_ways(const Footprint& footprint, const Router& router) {
  constexpr std::size_t kFewRanks = 1 << 14;
  if (footprint.first_edge.size() <= kFewRanks) return gather_hops(footprint, router);
  Ways ways;
  ways.first_hop.assign(footprint.edges.size() + 1, 0);
  ways.latency.assign(footprint.edges.size(), 0);
  count_hops(footprint, router, ways);
  for (std::size_t edge = 0; edge < footprint.edges.size(); ++edge) ways.first_hop[edge + 1] += ways.first_hop[edge];
  ways.link.resize(ways.first_hop.back());
  ways.share.resize(ways.first_hop.back());
  fill_hops(footprint, router, ways);
  return ways;
}

}  // namespace ringwright
