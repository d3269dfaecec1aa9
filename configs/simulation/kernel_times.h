// Time of a training step in the kernels of each family, a mean over ranks, at the nominal speed of the GPUs.
#pragma once

#include <vector>

#include "core/plan/task_graph.h"
#include "core/ports/compute_model.h"
#include "core/report/facts.h"

namespace ringwright::configs {

// Families in the order of KernelFamily, without those that the step has no kernels of; "recorded" is work whose time
// a trace states. Empty where nothing is computed.
[[nodiscard]] std::vector<KernelTime> kernel_times(const TaskGraph& graph, const ComputeModel& compute);

}  // namespace ringwright::configs
