// Remembers how steps were folded over one network, for the next one whose ranks are as alike.
//
// Which ranks are alike does not depend on how much they say to each other, only on which of their calls and messages
// are equal: two footprints that are the same but for the names of their colours and roles have one partition, since
// refinement looks at a name only to tell it from others. So names are numbered in the order in which they occur, and
// what is equal then is folded once. A search over one layout's batches, schedules and recomputation finds it known.
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
