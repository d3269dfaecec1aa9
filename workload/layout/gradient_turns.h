// Which backward passes of a stage end with a reduction of the gradients that they complete.
//
// ZeRO's stages 0 and 1 reduce once a step, when all microbatches have been added up. DeepSpeed's stage 2 reduces in
// every micro-step (allreduce_gradients in runtime/engine.py: from stage 2 on also where no accumulation ends), so that
// no rank keeps whole gradients. Where a stage of a pipeline has several chunks, gradients may also be added up over
// the microbatches that pass a chunk in a row, and reduced before the next chunk's begin.
#pragma once

#include <vector>

#include "workload/options/sharding_options.h"
#include "workload/pipeline/schedule.h"

namespace ringwright::workload {

// By slot.
[[nodiscard]] std::vector<bool> reducing_slots(const std::vector<Slot>& slots, GradientReduction reduction);

}  // namespace ringwright::workload
