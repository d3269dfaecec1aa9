// The port for routing: the links of the path between two ranks, and the capacity of each link.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"
#include "core/plan/dma_path.h"

namespace ringwright {

// Which section of the path from one rank to another a transfer takes. A switch that reduces or multicasts (NVLS,
// SHARP) is the apex, where the path goes from up to down: a contribution goes from `from` up to it, a result comes
// from it down to `to`.
// DMA paths within a host (core/plan/dma_path.h) begin or end at the GPU of `from`, which is also `to`.
// Two bytes: in a query or a transfer no gap follows, so that what is written to it is aligned as what is read.
enum class RouteKind : std::uint16_t {
  kWhole,
  kUpToSwitch,
  kDownFromSwitch,
  kToMemory,
  kFromMemory,
  kToStorage,
  kFromStorage,
  kWithinMemory,
  // A whole path, but into the fabric by the NIC of the sender's host that is on the receiver's rail: over NVLink to
  // the GPU of that NIC (NCCL's PXN). Where hosts have no such NIC, as kWhole.
  kPxn
};

[[nodiscard]] constexpr RouteKind route_kind_of(DmaPath path) {
  switch (path) {
    case DmaPath::kNone: return RouteKind::kWhole;
    case DmaPath::kToMemory: return RouteKind::kToMemory;
    case DmaPath::kFromMemory: return RouteKind::kFromMemory;
    case DmaPath::kToStorage: return RouteKind::kToStorage;
    case DmaPath::kFromStorage: return RouteKind::kFromStorage;
    case DmaPath::kWithinMemory: return RouteKind::kWithinMemory;
  }
  return RouteKind::kWhole;
}
[[nodiscard]] constexpr bool stays_in_host(RouteKind route_kind) {
  return route_kind >= RouteKind::kToMemory && route_kind <= RouteKind::kWithinMemory;
}

// The NICs that a message between hosts takes, by their numbers in their hosts; -1: that of the GPU at that end. A
// topology whose hosts have no numbered NICs, or no PCIe path to the NIC, uses the GPU's own.
struct MessageNics {
  std::int16_t out = -1;    // of the sender's host
  std::int16_t in = -1;     // of the receiver's host
  std::int16_t relay = -1;  // GPU of the sender's host that hands the bytes to `out` (PXN); -1: the sender

  friend auto operator<=>(const MessageNics&, const MessageNics&) = default;
};

using LinksDown = std::vector<bool>;  // by link id: whether it is down

struct RouteQuery {
  RankId from;
  RankId to;
  RouteKind route_kind = RouteKind::kWhole;
  MessageNics nics = {};
  std::uint32_t label = 0;  // chooses among equal-cost paths where the policy hashes (a queue pair, a channel)
  // A router with equal-cost paths takes one without links that are down; when none is left, the path that it would
  // take if all were up. Null: all links are up.
  const LinksDown* down = nullptr;
  // Of twins (Router::twins()) only the first, with its own share. Not together with `down`.
  bool first_of_twins = false;
};

// A link on the path and how much of the flow's rate it carries: 1 on a single path, 1/n when a flow is sprayed over n
// equal paths. In a folded run one flow stands for many identical ones, `multiplicity` of which cross the link; a model
// that shares links counts share * multiplicity, one that does not ignores the multiplicity.
struct Hop {
  LinkId link;
  double share = 1.0;
  double multiplicity = 1.0;
};

class Router {
 public:
  virtual ~Router() = default;

  // Replaces `hops` by the path, in order; returns the latency of the whole path (links and devices). The result
  // depends on the query alone. A link appears at most once. from == to only for DMA paths within a host.
  virtual Duration route(const RouteQuery& query, std::vector<Hop>& hops) const = 0;

  // By link id: the first of the parallel links that carry the same traffic at any time as long as all are up, since
  // every path spreads evenly over all of them. Empty: there are none.
  [[nodiscard]] virtual std::span<const LinkId> twins() const { return {}; }

  // By link id: capacity in its one direction.
  [[nodiscard]] virtual std::span<const Bandwidth> capacities() const = 0;
};

}  // namespace ringwright
