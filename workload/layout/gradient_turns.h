// The backward passes of a stage that end with a reduction of the gradients that they complete.
//
// ZeRO's stages 0 and 1 reduce once per step, after all microbatches. DeepSpeed's stage 2 reduces in every micro-step
// (allreduce_gradients in runtime/engine.py: from stage 2 on also inside an accumulation), so that no rank stores whole
// gradients. If a pipeline stage has several chunks, gradients may also be accumulated over consecutive microbatches of
// a chunk, and reduced before the next chunk's passes.
#pragma once

#include <vector>

#include "workload/options/sharding_options.h"
#include "workload/pipeline/schedule.h"

namespace ringwright::workload {

// By slot.
[[nodiscard]] std::vector<bool> reducing_slots(const std::vector<Slot>& slots, GradientReduction reduction);

}  // namespace ringwright::workload
