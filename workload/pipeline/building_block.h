// Schedules for V-shaped placement that repeat one building block: the passes of a microbatch at fixed distances.
//
// Qi et al., "Pipeline Parallelism with Controllable Memory" (NeurIPS 2024, arXiv 2405.15362), section 3: a block is
// repeated every six units (two chunks x forward, input and weight gradient), so a stage's memory is the lifespan of
// its chunks within the block divided by six. Blocks are then compacted: a stage runs its forward passes and input
// gradients in the order of the blocks, as early as possible, and weight gradients whenever it would wait.
#pragma once

#include <limits>

#include "workload/pipeline/schedule.h"

namespace ringwright::workload {

// Distances in units of one pass.
struct BuildingBlock {
  // From stage to stage: forward down the first chunk, up the second, gradients down the second, up the first.
  int down = 1;
  int up = 1;
  int gradient_down = 1;
  int gradient_up = 1;
  int turn = 1;           // from the first chunk's forward pass on the last stage to the second's
  int loss = 1;           // from the second chunk's forward pass on the first stage to its input gradient
  int gradient_turn = 1;  // from the second chunk's input gradient on the last stage to the first's
};

enum class WarmUp {
  kAsInBlocks,
  kEarly,  // before its first gradient a stage fills its memory with forward passes of the first chunk
};

struct BlockLimits {
  int held = std::numeric_limits<int>::max();  // chunks of microbatches on one stage
  WarmUp warm_up = WarmUp::kAsInBlocks;
};

[[nodiscard]] PipelineOrder repeat_block(const ScheduleRequest& request, const BuildingBlock& block,
                                         const BlockLimits& limits);

}  // namespace ringwright::workload
