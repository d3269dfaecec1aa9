// The memory of a rank that trains a layer table: weights, gradients and optimizer state in fp32, and what the forward
// pass saves.
#pragma once

#include <cstdint>

#include "workload/layered/layered_model.h"
#include "workload/memory/memory.h"

namespace ringwright::workload {

// All ranks are equal: one ledger. `ranks` divides the global batch.
[[nodiscard]] StageMemory layered_memory(const LayeredModel& model, std::int64_t ranks,
                                         const MemoryAssumptions& assumptions);

}  // namespace ringwright::workload
