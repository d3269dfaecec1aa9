// Calls whose steps are those of a ring, given to the network as one: it moves the messages of all members by itself,
// and reports the end of each member's.
//
// Where ranks are folded, an edge is a class: the classes of a group follow each other along the ring in a fixed order,
// once or several times around.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "core/ports/collective_algorithm.h"
#include "core/ports/network_model.h"
#include "core/run/job/collective_runner.h"
#include "core/run/job/group_roster.h"
#include "core/run/job/played_job.h"

namespace ringwright {

class RingCalls {
 public:
  RingCalls(PlayedJob& job, GroupRoster& roster);

  struct Call {
    const CollectiveRequest& request;
    const RingSteps& ring;  // of all calls with the request's specification and layout; unchanged
    int steps = 0;
    std::uint64_t token = 0;
  };
  // A member begins its first step. Empty: the network does not move rings, or the classes of the group follow each
  // other in no fixed order; that is the same for all members.
  [[nodiscard]] std::optional<RingPlace> start(const Call& call, TransferListener& listener);

 private:
  // A class among those of its group, in the order of one ring.
  struct Seat {
    std::uint32_t spec = 0;  // the first equal one
    std::uint32_t edge = 0;
    std::uint32_t edges = 0;  // 0: no ring
    std::uint32_t group = 0;  // index into open_
    int position = 0;         // in the ring of its representative's group
    Bytes sent;               // in one call
  };
  struct Open {
    std::uint64_t sequence = 0;
    std::uint32_t ring = 0;
    std::uint32_t started = 0;  // members
  };

  [[nodiscard]] std::vector<Seat>& seats(ClassId c, DimensionId dimension) {
    return seats_[c.index() * job_.graph.dimensions.size() + dimension.index()];
  }
  [[nodiscard]] const Seat& seat_of(const Call& call);
  void seat_group(const Call& call);
  [[nodiscard]] std::vector<ClassId> classes_along(const Call& call, ClassId c) const;
  [[nodiscard]] std::optional<std::uint32_t> join(const Seat& seat, std::uint64_t sequence);

  PlayedJob& job_;
  GroupRoster& roster_;
  std::vector<std::uint32_t> first_equal_;  // by specification: programs may have equal ones of their own
  std::vector<std::vector<Seat>> seats_;  // by class and dimension: each specification once
  std::deque<std::vector<Open>> open_;    // by group
};

}  // namespace ringwright
