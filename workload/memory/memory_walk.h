// The temporary memory of a stage: its schedule is traversed point by point, and the peak is recorded.
#pragma once

#include <optional>
#include <vector>

#include "core/base/units.h"
#include "workload/layout/stage_chunks.h"
#include "workload/memory/known_memory.h"
#include "workload/memory/pass_memory.h"
#include "workload/options/step_inputs.h"
#include "workload/pipeline/schedule.h"

namespace ringwright::workload {

// Whether a pass holds the same in all microbatches, so that cycles of passes may be left out
// (pipeline/steady_passes.h).
[[nodiscard]] bool passes_repeat(const StepInputs& inputs);

// Of stages whose chunks have the same content. Passes that repeat, but for what is gathered, are traversed once for
// all of them.
class MemoryWalker {
 public:
  // `units`: those of the chunks. What is passed must outlive it.
  MemoryWalker(const StepInputs& inputs, const std::vector<ModelChunk>& parts, const std::vector<StageUnits>& units,
               KnownGathers& gathers)
      : inputs_(inputs), parts_(parts), units_(units), gathers_(gathers) {}

  // `slots`: in the order in which they allocate and release memory (release_first of pipeline/schedule_check.h).
  [[nodiscard]] MemoryWalk walk(const std::vector<Slot>& slots);

 private:
  [[nodiscard]] MemoryWalk walk_repeated(const std::vector<Slot>& slots);
  [[nodiscard]] MemoryWalk walk_all(const std::vector<Slot>& slots);

  const StepInputs& inputs_;
  const std::vector<ModelChunk>& parts_;
  const std::vector<StageUnits>& units_;
  KnownGathers& gathers_;
  std::optional<PassWalker> passes_;
};

}  // namespace ringwright::workload
