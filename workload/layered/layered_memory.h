// The memory of a rank that trains a layer table: weights, gradients and optimizer state in fp32, and what the forward
// pass saves.
#pragma once

#include "workload/layered/layered_layout.h"
#include "workload/layered/layered_model.h"
#include "workload/memory/memory.h"

namespace ringwright::workload {

// All workers are equal: one ledger. They divide the global batch.
[[nodiscard]] StageMemory layered_memory(const LayeredModel& model, const LayeredLayout& layout,
                                         const MemoryAssumptions& assumptions);

}  // namespace ringwright::workload
