// The paths of all flows of a footprint, flattened for the repeated passes of refinement.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/ids.h"
#include "core/ports/router.h"
#include "core/symmetry/footprint.h"

namespace ringwright {

// The number of ranks from which loops run on several cores. Below, the loops are shorter than a barrier of threads
// that spin for each other's cores: on a busy machine a fold of 16,384 ranks took ten times as long with two threads.
inline constexpr std::ptrdiff_t kRanksWorthThreads = 1 << 18;

// Hops of a rank's edges follow each other, in the order of the edges.
struct Paths {
  std::vector<std::uint64_t> first_hop;  // by rank, and one past the end
  std::vector<std::uint32_t> hops;       // by edge: their number; 0 where the edge starts no flow
  std::vector<LinkId> link;              // by hop
  std::vector<std::uint16_t> share;      // by hop: index into shares; empty where there is one
  std::vector<std::uint64_t> shares;     // the distinct shares, as bits
  std::vector<std::uint32_t> latency;    // by edge: index into latencies
  std::vector<std::int64_t> latencies;   // the distinct ones, ps; 0 of edges that start no flow

  [[nodiscard]] std::size_t share_of(std::uint64_t hop) const { return share.empty() ? 0 : share[hop]; }
};

// kFirst: as RouteQuery::first_of_twins.
enum class TwinHops { kAll, kFirst };

// For many ranks every edge is routed twice, first to count: a million GPUs have hundreds of millions of hops, and
// growing arrays would hold them three times. The router is called from several threads.
[[nodiscard]] Paths find_paths(const Footprint& footprint, const Router& router, TwinHops twins = TwinHops::kAll);

}  // namespace ringwright
