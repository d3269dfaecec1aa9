// A pipeline's order of passes without most of its steady state: identical cycles, over fewer microbatches.
//
// The schedule's rule generates an order for fewer microbatches, which is compared with the whole order slot by slot:
// on every stage the whole order must be the same beginning, the same cycle repeated, and the same end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "workload/options/training_options.h"

namespace ringwright::workload {

struct ShortOrder {
  PipelineOrder order;
  std::uint32_t cycles_left_out = 0;  // of every stage
  // The slots of a stage's steady state; the last cycle may be incomplete.
  struct Steady {
    std::size_t first = 0;
    std::size_t cycle = 0;  // slots of a cycle
    std::size_t end = 0;
  };
  std::vector<Steady> steady;  // by stage
};

// kFew: about as many as fill the pipeline; stages that keep pace are periodic by then. kMany: several times as many,
// for stages that drift apart a little in each cycle.
enum class CyclesKept { kFew, kMany };

// Empty if no cycle can be left out, or if stages have no cycles.
[[nodiscard]] std::optional<ShortOrder> shorten(const PipelineOrder& whole, const ParallelOptions& parallel,
                                                const TrainingOptions& training, CyclesKept cycles);

}  // namespace ringwright::workload
