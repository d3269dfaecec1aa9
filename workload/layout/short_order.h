// A pipeline's order of passes with most of its steady state left out: laps that are alike, over fewer microbatches.
//
// The rule of a schedule is asked for fewer microbatches, and what it gives is compared with the whole order slot by
// slot: on every stage the whole must be the same beginning, the same lap again and again, and the same end.
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
  // The slots of a stage's steady state; the last lap may be cut short.
  struct Steady {
    std::size_t first = 0;
    std::size_t cycle = 0;  // slots of a lap
    std::size_t end = 0;
  };
  std::vector<Steady> steady;  // by stage
};

// kFew: about as many as it takes to fill the pipeline; a run of stages that keep pace repeats itself by then. kMany:
// several times as many, for stages that drift apart a little in each lap.
enum class CyclesKept { kFew, kMany };

// Nothing where no lap can be left out, or where stages do not go round in laps.
[[nodiscard]] std::optional<ShortOrder> shorten(const PipelineOrder& whole, const ParallelOptions& parallel,
                                                const TrainingOptions& training, CyclesKept cycles);

}  // namespace ringwright::workload
