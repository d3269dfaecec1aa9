// Caches how steps were folded over one network, for later steps with the same equalities between ranks.
//
// Which ranks are equivalent does not depend on how much they communicate, only on which of their calls and messages
// are equal: two footprints that are the same except for the names of their colours and roles have one partition, since
// refinement only compares names. So names are numbered in the order in which they occur, and footprints that are then
// equal are folded once. A search over one layout's batches, schedules and recomputation hits this cache.
#pragma once

#include <cstdint>
#include <vector>

#include "core/symmetry/folding.h"

namespace ringwright {

class FoldMemory {
 public:
  // As fold() on a network that never changes; always with the same router.
  [[nodiscard]] Folding fold(const TaskGraph& graph, const Choosers& choosers, const Router& router);
  [[nodiscard]] std::size_t size() const { return known_.size(); }

 private:
  static constexpr std::size_t kKept = 16;
  struct Known {
    std::vector<std::uint64_t> likeness;
    Folding folding;
  };
  std::vector<Known> known_;  // the last ones used at the end
};

}  // namespace ringwright
