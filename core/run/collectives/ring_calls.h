// Calls whose members send over the same edges in all steps, given to the network as a ring or several at once: it
// moves the messages of all members by itself, and reports the end of each member's. A call of one step is an exchange.
//
// Where ranks are folded, a member is a class, and sends and awaits what its representative does.
#pragma once

#include <cstddef>
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
    const CollectiveCall& call;
    const CollectiveAlgorithm& algorithm;
    const std::optional<RingSteps>& ring;  // of all calls with the request's specification and layout; unchanged
    int steps = 0;
    std::uint64_t token = 0;
  };
  // Where a member's messages are: send number j is over the network's edge number first_edge + j of this ring.
  struct Edges {
    std::uint32_t ring = 0;
    std::uint32_t first_edge = 0;
    bool in_exchange = false;
  };
  // Whether all steps send over the same edges, so that start() may be asked.
  [[nodiscard]] static bool repeats_edges(const CollectiveAlgorithm& algorithm, const CollectiveCall& call);
  // A member begins its first step. Empty: the network does not move rings, or the steps differ by more than the sizes
  // of messages; that is the same for all members.
  [[nodiscard]] std::optional<Edges> start(const Call& call, TransferListener& listener);
  // Of all calls since it was called last.
  void book_sent();
  // Messages that have arrived over an edge of the member.
  [[nodiscard]] std::uint32_t arrived_over(const Edges& edges, std::uint32_t send) const;

 private:
  // Members of calls with one specification, among the same classes.
  struct Open {
    std::uint64_t sequence = 0;
    std::uint32_t ring = 0;
    std::uint32_t started = 0;  // members
  };
  struct Group {
    std::vector<Open> open;
    std::uint32_t members = 0;
    std::uint32_t steps = 0;
    std::optional<RingShape> shape;    // none: no ring
    std::optional<Exchange> exchange;  // of calls of one step
  };
  // A class among those of its group. All that a call needs is in one place: with thousands of classes each place is a
  // cache miss.
  struct alignas(64) Seat {
    Group* group = nullptr;  // null: no ring
    Bytes sent;              // in one call
    std::vector<RingEdge> edges;
    std::uint32_t member = 0;  // in the group's shape
    std::uint32_t first_edge = 0;
    ClassId rank_class;
    DimensionId dimension;
    std::uint32_t calls = 0;  // started, and not in the job's totals
    bool in_exchange = false;
  };
  // A class whose first step is known.
  struct Candidate {
    ClassId rank_class;
    int index = 0;  // of its representative in the group
    CollectiveStep step;
  };

  // Of the messages of a call.
  struct Sizes {
    std::size_t steps = 1;  // to look at: one if all have equal messages
    std::optional<CyclicSizes> cyclic;
    std::vector<std::span<const Bytes>> cycles;  // of `cyclic`
  };

  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  // The numbers of the classes' seats in calls of a dimension and specification.
  [[nodiscard]] std::vector<std::uint32_t>& numbers_of(DimensionId dimension, std::uint32_t spec) {
    return seat_of_[dimension.index() * first_equal_.size() + first_equal_[spec]];
  }
  [[nodiscard]] Seat& seat_of(const Call& call);
  void seat_group(const Call& call, std::vector<std::uint32_t>& numbers);
  [[nodiscard]] std::vector<Candidate> candidates_along(const Call& call) const;
  [[nodiscard]] std::optional<RingShape> shape_of(const Call& call, std::span<const Candidate> members) const;
  [[nodiscard]] Sizes sizes_of(const Call& call);
  [[nodiscard]] bool add_edges(const Call& call, const Candidate& member, const Sizes& sizes, Seat& seat);
  [[nodiscard]] bool find_sizes(const Call& call, const Candidate& member, std::size_t steps,
                                std::vector<RingEdge>& edges);
  [[nodiscard]] std::optional<std::uint32_t> join(const Seat& seat, std::uint64_t sequence);
  [[nodiscard]] std::optional<std::uint32_t> open_in_network(const Group& group);

  PlayedJob& job_;
  GroupRoster& roster_;
  std::vector<std::uint32_t> first_equal_;  // by specification: programs may have equal ones of their own
  std::vector<std::vector<std::uint32_t>> seat_of_;  // by dimension and specification, by class; empty until used
  std::vector<Seat> seats_;
  std::deque<Group> groups_;
  std::deque<std::vector<Bytes>> sizes_;  // of edges whose messages differ from those of all others
  std::size_t listed_ = 0;                // sizes in all of these
};

}  // namespace ringwright
