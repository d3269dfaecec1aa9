// Finds the paths of all flows: count, lay out, fill; the result does not depend on the number of threads.
#include "core/symmetry/paths.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <unordered_set>

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
  const EdgeKind& kind = routed.footprint.kinds[edge.kind];
  hops.clear();
  if (!kind.starts_flow) return {};
  const bool down = kind.route_kind == RouteKind::kDownFromSwitch;
  return routed.router.route({.from = down ? edge.peer : RankId(rank),
                              .to = down ? RankId(rank) : edge.peer,
                              .route_kind = kind.route_kind,
                              .nics = kind.nics,
                              .label = kind.label,
                              .first_of_twins = routed.twins == TwinHops::kFirst},
                             hops);
}

// Gathers distinct values. Nearly always a value is that of the edge or hop before.
template <class Value>
class DistinctValues {
 public:
  void add(Value value) {
    if (!known_.empty() && value == last_) return;
    last_ = value;
    known_.insert(value);
  }
  void move_into(std::vector<Value>& values) { values.insert(values.end(), known_.begin(), known_.end()); }

 private:
  Value last_ = {};
  std::unordered_set<Value> known_;
};

struct DistinctOfPaths {
  void add_edge(Duration time, const std::vector<Hop>& hops) {
    latencies.add(time.count());
    for (const Hop& hop : hops) shares.add(std::bit_cast<std::uint64_t>(hop.share));
  }
  void move_into(Paths& paths) {
    latencies.move_into(paths.latencies);
    shares.move_into(paths.shares);
  }
  DistinctValues<std::int64_t> latencies;
  DistinctValues<std::uint64_t> shares;
};

// Sorted, so that the result does not depend on the order of threads.
template <class Value>
void sort_distinct(std::vector<Value>& values) {
  std::ranges::sort(values);
  // Not std::ranges::unique, whose sub-range clang 14 cannot read.
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

void sort_distinct(Paths& paths) {
  sort_distinct(paths.shares);
  sort_distinct(paths.latencies);
  CHECK(paths.shares.size() <= std::numeric_limits<std::uint16_t>::max(), "distinct shares are few");
}

template <class Index, class Value>
Index index_of(const std::vector<Value>& values, Value value) {
  return static_cast<Index>(std::ranges::lower_bound(values, value) - values.begin());
}

std::uint16_t share_index(const Paths& paths, double share) {
  return index_of<std::uint16_t>(paths.shares, std::bit_cast<std::uint64_t>(share));
}

// Distinct latencies and shares, the hops of each edge, and in first_hop[r + 1] the number of hops of rank r.
void count_hops(const Routed& routed, Paths& paths) {
  const Footprint& footprint = routed.footprint;
  const auto ranks = static_cast<std::ptrdiff_t>(footprint.first_edge.size()) - 1;
#pragma omp parallel if (ranks >= kRanksWorthThreads)
  {
    std::vector<Hop> hops;
    DistinctOfPaths distinct;
#pragma omp for schedule(static)
    for (std::ptrdiff_t r = 0; r < ranks; ++r) {
      const auto rank = static_cast<std::size_t>(r);
      for (std::uint64_t e = footprint.first_edge[rank]; e < footprint.first_edge[rank + 1]; ++e) {
        distinct.add_edge(route_edge(routed, rank, e, hops), hops);
        paths.hops[e] = static_cast<std::uint32_t>(hops.size());
        paths.first_hop[rank + 1] += hops.size();
      }
    }
#pragma omp critical
    distinct.move_into(paths);
  }
  sort_distinct(paths);
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
      std::uint64_t at = paths.first_hop[rank];
      for (std::uint64_t e = footprint.first_edge[rank]; e < footprint.first_edge[rank + 1]; ++e) {
        const Duration latency = route_edge(routed, rank, e, hops);
        paths.latency[e] = index_of<std::uint32_t>(paths.latencies, latency.count());
        for (const Hop& hop : hops) {
          if (!paths.share.empty()) paths.share[at] = share_index(paths, hop.share);
          paths.link[at++] = hop.link;
        }
      }
    }
  }
}

// For few ranks: arrays may grow.
Paths gather_hops(const Routed& routed) {
  const Footprint& footprint = routed.footprint;
  Paths paths;
  std::vector<std::int64_t> latencies;  // by edge
  std::vector<double> shares;           // by hop
  DistinctOfPaths distinct;
  std::vector<Hop> hops;
  for (std::size_t rank = 0; rank + 1 < footprint.first_edge.size(); ++rank) {
    paths.first_hop.push_back(paths.link.size());
    for (std::uint64_t e = footprint.first_edge[rank]; e < footprint.first_edge[rank + 1]; ++e) {
      const Duration latency = route_edge(routed, rank, e, hops);
      distinct.add_edge(latency, hops);
      latencies.push_back(latency.count());
      paths.hops.push_back(static_cast<std::uint32_t>(hops.size()));
      for (const Hop& hop : hops) {
        paths.link.push_back(hop.link);
        shares.push_back(hop.share);
      }
    }
  }
  paths.first_hop.push_back(paths.link.size());
  distinct.move_into(paths);
  sort_distinct(paths);
  if (paths.shares.size() > 1) {
    for (const double share : shares) paths.share.push_back(share_index(paths, share));
  }
  for (const std::int64_t time : latencies) paths.latency.push_back(index_of<std::uint32_t>(paths.latencies, time));
  return paths;
}

}  // namespace

Paths find_paths(const Footprint& footprint, const Router& router, TwinHops twins) {
  const Routed routed{.footprint = footprint, .router = router, .twins = twins};
  constexpr std::size_t kFewRanks = 1 << 14;
  if (footprint.first_edge.size() <= kFewRanks) return gather_hops(routed);
  Paths paths;
  paths.first_hop.assign(footprint.first_edge.size(), 0);
  paths.hops.assign(footprint.edges.size(), 0);
  paths.latency.assign(footprint.edges.size(), 0);
  count_hops(routed, paths);
  for (std::size_t rank = 1; rank < paths.first_hop.size(); ++rank) paths.first_hop[rank] += paths.first_hop[rank - 1];
  paths.link.resize(paths.first_hop.back());
  if (paths.shares.size() > 1) paths.share.resize(paths.first_hop.back());
  fill_hops(routed, paths);
  return paths;
}

}  // namespace ringwright
