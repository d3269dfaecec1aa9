// The communication graph of the ranks: one edge for each peer and role, gathered from programs, groups and algorithms.
// A role identifies everything about the traffic of an edge except its ends (which calls, steps and bytes). Background
// transfers on which nothing in the job depends are left out (background_behind_job()).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/ids.h"
#include "core/plan/task_graph.h"
#include "core/ports/call_overhead.h"
#include "core/ports/channel_algorithm.h"
#include "core/ports/collective_algorithm.h"
#include "core/ports/collective_time.h"
#include "core/ports/communication_footprint.h"
#include "core/ports/router.h"

namespace ringwright {

// Label, route kind and NICs as in RouteQuery.
struct EdgeKind {
  std::uint64_t role = 0;
  std::uint32_t label = 0;
  MessageNics nics = {};
  RouteKind route_kind = RouteKind::kWhole;
  bool starts_flow = false;  // this rank starts transfers on it; otherwise it waits for the peer's
  // Of ranks that progress together: that one of them has the edge matters, and not which one. The index of the
  // dimension whose group it is, and one; 0: the edge is the rank's own.
  std::uint32_t shared_in = 0;
  bool loads_links = true;  // false: only the latency of its path matters

  friend bool operator==(const EdgeKind&, const EdgeKind&) = default;
};

// There may be hundreds of millions, of few kinds.
struct Edge {
  RankId peer;
  std::uint32_t kind = 0;  // index into Footprint::kinds
};

struct Footprint {
  std::vector<std::uint64_t> colour;      // by rank: its own properties, without its peers
  std::vector<std::uint64_t> first_edge;  // by rank, and one past the end
  std::vector<Edge> edges;
  std::vector<EdgeKind> kinds;        // the distinct ones
  std::vector<DimensionId> everyone;  // dimensions with steps that wait for all members of a group

  [[nodiscard]] std::span<const Edge> edges_of(RankId rank) const {
    const std::uint64_t first = first_edge[rank.index()];
    return std::span(edges).subspan(first, first_edge[rank.index() + 1] - first);
  }
};

// Everything that the run queries about a rank's communication: ranks for which one of them gives different results
// must not be of one class. First the form of collectives: steps, or thread blocks on channels when those are
// simulated. A pointer that is null is not queried by the run either.
struct Choosers {
  // NOLINTNEXTLINE(google-explicit-constructor): steps alone
  Choosers(const CollectiveChooser& in_steps, const ChannelChooser* on_channels = nullptr,
           const CollectiveTime* as_formulas = nullptr, const CallOverhead* per_call = nullptr,
           const CommunicationFootprint* taken = nullptr)
      : steps(in_steps), channels(on_channels), times(as_formulas), overhead(per_call), contention(taken) {}
  const CollectiveChooser& steps;
  const ChannelChooser* channels;
  const CollectiveTime* times;  // of collectives that are only barriers
  const CallOverhead* overhead;
  const CommunicationFootprint* contention;
  // The members of a call progress together: ranks are of one class only if their groups consist of the same classes.
  bool members_together = false;
};

[[nodiscard]] Footprint make_footprint(const TaskGraph& graph, const Choosers& choosers);

}  // namespace ringwright
