// How often a training step runs each work of its plan.
#pragma once

#include <cstdint>
#include <vector>

#include "core/plan/task_graph.h"

namespace ringwright::configs {

// By work of the graph: calls in a step, summed over all ranks. Work of the host, on no stream of the GPU, is not
// counted.
[[nodiscard]] std::vector<std::uint64_t> calls_of_works(const TaskGraph& graph);

}  // namespace ringwright::configs
