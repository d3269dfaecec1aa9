// A step on several kinds of GPUs: each rank's work is that of its own kind.
#pragma once

#include <span>

#include "core/plan/task_graph.h"

namespace ringwright {

// Gives the ranks of every kind but 0 programs of their own, whose works name their kind (Work::gpu): copies with the
// same tasks, under the same names. Kinds that no rank with a program has cost nothing. `gpu_of_rank` has an entry for
// each rank, or none where all are of kind 0.
void split_by_gpu(TaskGraph& graph, std::span<const int> gpu_of_rank);

}  // namespace ringwright
