// A stage's passes without the cycles of its steady state that repeat earlier ones, for what depends only on which
// passes are in flight.
//
// A cycle of passes that begins as many microbatches of each chunk as it ends leaves in flight what it found. So each
// pass of a further cycle meets the same as that of the cycle before: with the further ones left out, every pass that
// is left meets what it meets in the whole order, and each that is left out equals an earlier one.
#pragma once

#include <cstddef>
#include <vector>

#include "workload/pipeline/schedule.h"

namespace ringwright::workload {

// Microbatches of what is left are those of the whole order. Only cycles around the middle of the order are looked for.
[[nodiscard]] std::vector<Slot> without_repeated_cycles(const std::vector<Slot>& slots);

// With three of the cycles, for what also depends on the passes around; all passes where there are no more cycles.
struct FewCycles {
  std::vector<Slot> slots;
  std::vector<std::size_t> cycles;  // where they begin in `slots`, and where the last one ends
};
[[nodiscard]] FewCycles with_few_cycles(const std::vector<Slot>& slots);

}  // namespace ringwright::workload
