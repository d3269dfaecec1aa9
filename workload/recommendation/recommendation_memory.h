// The memory of a rank with embedding tables: by role of the placement.
//
// Tables with their optimizer state; weights, gradients and optimizer state of dense layers and of replicated tables in
// fp32; what a step holds for its backward pass: outputs of dense layers, pooled rows before and after their exchange
// with their gradients, and indices before and after theirs. With a cache the whole tables are in the memory of the
// rank's host.
#pragma once

#include <vector>

#include "workload/memory/host_memory.h"
#include "workload/memory/memory.h"
#include "workload/recommendation/recommendation_model.h"
#include "workload/recommendation/table_placement.h"

namespace ringwright::workload {

// StageMemory::stage is the number of the role.
[[nodiscard]] std::vector<StageMemory> recommendation_memory(const RecommendationModel& model,
                                                             const TablePlacement& placement,
                                                             const MemoryAssumptions& assumptions);

// Of a rank of each role; empty where no table is in host memory. HostHoldings::stage is the number of the role.
[[nodiscard]] std::vector<HostHoldings> recommendation_host_holdings(const RecommendationModel& model,
                                                                     const TablePlacement& placement);

}  // namespace ringwright::workload
