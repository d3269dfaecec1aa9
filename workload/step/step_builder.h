// One training step as a task graph: the pipeline schedule sets the order of passes, and each kind of parallelism adds
// its communication at its points.
#pragma once

#include <cstdint>
#include <vector>

#include "core/plan/task_graph.h"
#include "workload/layout/known_groups.h"
#include "workload/options/step_inputs.h"

namespace ringwright::workload {

struct StepPlan {
  TaskGraph graph;                // without layouts, which lay_out_groups adds, or with those of known groups
  std::int64_t parameters = 0;    // of the model as published
  std::int64_t tokens = 0;        // in a training step
  std::int64_t microbatches = 0;  // per replica
  // FLOPs of the model without recomputation, with causal attention counted as half of the score matrix; and as the
  // full matrix, as in most papers up to 2023 that report MFU.
  Flops model_flops;
  Flops model_flops_full_attention;
  Flops hardware_flops;                           // FLOPs that all ranks actually compute
  std::vector<int> held_at_peak;                  // by stage: microbatches of a chunk between their passes, at most
  std::vector<int> weight_versions;               // by stage: versions of the weights, including the newest
  std::vector<std::int64_t> stage_parameters;     // by stage, of one rank
  std::vector<Flops> stage_flops;                 // by stage, of one rank in a training step
  std::vector<std::vector<Bytes>> communication;  // by stage, by dimension of the graph: the buffers of one rank's
                                                  // collectives (as CollectiveSpec counts) and the messages it sends
};

// Equal passes are segments of the graph, or each is written out. kFewCycles, kManyCycles: as segments; and if the
// programs of all stages repeat in equal cycles, most of those are left out of the graph (CyclesKept), but not of the
// plan's totals.
enum class Passes { kAsSegments, kWrittenOut, kFewCycles, kManyCycles };
// `known`: of an earlier step on the same machine, whose groups it takes over with their layouts; null: none.
[[nodiscard]] StepPlan build_step(const StepInputs& inputs, Passes passes = Passes::kAsSegments,
                                  KnownGroups* known = nullptr);

}  // namespace ringwright::workload
