// A simulation of an order of passes on an instantaneous network: each stage's compute times, memory and waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "workload/pipeline/schedule.h"

namespace ringwright::workload {

// Of one chunk, in any unit; a whole backward pass takes input + weight.
struct PassTimes {
  std::int64_t forward = 1;
  std::int64_t input = 1;
  std::int64_t weight = 1;

  [[nodiscard]] std::int64_t of(Pass pass) const;
};

struct StageTimeline {
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::int64_t busy = 0;
  int held_at_peak = 0;   // most (microbatch, chunk) pairs between their first and their last pass
  std::size_t played = 0;  // completed slots; all of them unless the stage deadlocks

  [[nodiscard]] std::int64_t span() const { return end - start; }
};

struct Timeline {
  std::vector<StageTimeline> stages;
  bool finished = false;

  [[nodiscard]] std::int64_t end() const;
  // Idle time of the busiest stage: from the first start to the last end, and on that stage's own timeline, the maximum
  // over stages.
  [[nodiscard]] std::int64_t bubble() const;
  [[nodiscard]] std::int64_t bubble_of_own() const;
};

// A dependency of a pass: another pass of the microbatch, on this or another stage.
struct Need {
  ChunkPosition place;
  Pass pass = Pass::kForward;  // kInputGradient means either kind of backward pass
};
struct Needs {
  std::optional<Need> own;     // the previous pass on the same chunk
  std::optional<Need> others;  // of a neighbour
};
[[nodiscard]] Needs needs_of(const PipelineShape& shape, int stage, const Slot& slot);

// Slots must be within the shape and the microbatches.
[[nodiscard]] Timeline play_order(const PipelineOrder& order, const PipelineShape& shape, int microbatches,
                                  const PassTimes& times);
// With the times of every model chunk, in model order; a single one is that of all.
[[nodiscard]] Timeline play_parts(const PipelineOrder& order, const PipelineShape& shape, int microbatches,
                                  std::span<const PassTimes> times_of_part);

}  // namespace ringwright::workload
