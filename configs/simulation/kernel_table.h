// The kernels of a training step: how often each runs, how long it takes, and what limits it.
#pragma once

#include <vector>

#include "configs/scenario/scenario.h"
#include "core/plan/task_graph.h"
#include "core/report/facts.h"

namespace ringwright::configs {

// Distinct kernels of all programs, longest first, as means over ranks at the nominal speed of the GPUs. Work of
// recorded traces is one row. Beyond the first kMostKernels rows, kernels of one family are one row.
inline constexpr std::size_t kMostKernels = 400;
[[nodiscard]] std::vector<KernelUse> kernel_table(const Scenario& scenario, const TaskGraph& graph);

}  // namespace ringwright::configs
