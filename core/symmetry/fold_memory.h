// Caches how steps were folded over one network, for later steps with the same equalities between ranks.
//
// Which ranks are equivalent does not depend on how much they communicate, only on which of their calls and messages
// are equal: two footprints that are the same except for the names of their colours and roles have one partition, since
// refinement only compares names. Names are those of programs, of their calls in groups of one layout, and of their
// messages; so where ranks run the same programs in the same groups, it is enough to number these in the order in which
// they occur. Steps whose numbers are equal are folded once, without a look at each rank. A search over one layout's
// batches, schedules and recomputation hits this cache.
#pragma once

#include <cstdint>
#include <vector>

#include "core/symmetry/folding.h"
#include "core/symmetry/rank_routes.h"

namespace ringwright {

class FoldMemory {
 public:
  // As fold() on a network that never changes; always with the same router.
  [[nodiscard]] Folding fold(const TaskGraph& graph, const Choosers& choosers, const Router& router);
  [[nodiscard]] std::size_t size() const;

 private:
  static constexpr std::size_t kKept = 8;  // of each
  struct Known {
    std::vector<std::uint64_t> likeness;
    Folding folding;
  };
  struct OfRanks {
    RankRoutes ranks;
    std::vector<Known> known;  // the last one used at the end
  };
  [[nodiscard]] OfRanks& of(const TaskGraph& graph, const Traffic& traffic, const Choosers& choosers);

  std::vector<OfRanks> of_ranks_;  // the last ones used at the end
};

}  // namespace ringwright
