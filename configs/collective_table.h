// Which algorithm was chosen for the collective calls of a training step, and what they took.
#pragma once

#include <vector>

#include "configs/simulation.h"
#include "core/record/run_record.h"
#include "core/report/facts.h"

namespace ringwright::configs {

// One row for each dimension, operation, size, number of ranks and hosts, and choice; by dimension, most bytes first.
[[nodiscard]] std::vector<CollectiveUse> collective_table(const Simulation& simulation, const RunRecord& record);

}  // namespace ringwright::configs
