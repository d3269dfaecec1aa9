// The peers of each member of a group in its collectives, independent of the actual ranks: edges by index in the group,
// each with a role that identifies all of its traffic.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "core/ports/channel_algorithm.h"
#include "core/ports/collective_algorithm.h"
#include "core/ports/router.h"

namespace ringwright {

struct MemberEdge {
  int peer = 0;
  RouteKind route_kind = RouteKind::kWhole;
  MessageNics nics = {};
  int channel = 0;
  bool starts_flow = false;
  std::uint64_t role = 0;
  bool loads_links = true;
};

struct MemberPattern {
  std::vector<std::vector<MemberEdge>> edges;  // by member
  bool everyone = false;                       // some step waits for all
  bool only_meets = false;                     // a barrier: all wait for all, and nobody sends
  std::uint64_t pairing = 0;                   // then: identifies its duration
  std::uint64_t costs = 0;                     // overhead of the calls in addition to their messages; 0: not queried
};

// Gathers the role of every edge of one member.
class EdgeCollector {
 public:
  // Adds to the role of the edge that is equal except for its role.
  void add(const MemberEdge& edge, std::uint64_t what);
  [[nodiscard]] std::vector<MemberEdge> edges() const;

 private:
  std::map<std::tuple<int, RouteKind, MessageNics, int, bool, bool>, std::uint64_t> roles_;
};

// Steps by phases where members progress together: only the first of each that has the same messages is visited. Where
// it has the same sizes as well, or these are known otherwise, that is exact and done for kAll, too.
enum class StepVisits { kAll, kPhases };

// The edges of every member in one call, in steps or on channels.
[[nodiscard]] MemberPattern make_call_pattern(const CollectiveAlgorithm& algorithm, const CollectiveCall& call,
                                              StepVisits visits = StepVisits::kAll);
[[nodiscard]] MemberPattern make_call_pattern(const ChannelChoice& choice, const CollectiveCall& call);

}  // namespace ringwright
