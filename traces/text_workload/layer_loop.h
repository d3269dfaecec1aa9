// A text workload as a task graph: one program for all ranks, with the groups of tensor, expert and data parallelism.
//
// Every loop computes and communicates layer by layer (ASTRA-sim 1.0 and SimAI, Workload::iterate_*):
//
//   forward    compute, communicate, wait                           (DATA: compute only)
//   backward   from the last layer on; (i)nput and (w)eight gradient:
//     DATA            w compute, w communicate; i compute (not of the first layer)
//     MODEL, HYBRID_* i compute, i communicate (not of the first layer); w compute, w communicate; wait for i
//     TRANSFORMER     [recompute from the checkpoint]; i compute, i communicate, wait; w compute, w communicate
//
// After each communication the layer's update time passes. The step ends when all of that has ended. Communication of
// one group is in order, as on one NCCL communicator; ASTRA-sim's scheduling of several (LIFO, FIFO) is not modelled.
//
// Groups as in SimAI: rank = (d * pp + p) * tp + t. Tensor parallelism joins all t; data parallelism all d; _EP blocks
// of `ep` consecutive d, _DP_EP the d that are equal modulo `ep`. MODEL joins all ranks for i and forward, DATA all for
// w. HYBRID_DATA_MODEL has its model groups within a host and its data groups across; HYBRID_MODEL_DATA the reverse.
#pragma once

#include <cstdint>

#include "core/base/diagnostic.h"
#include "core/plan/task_graph.h"
#include "traces/text_workload/text_workload.h"

namespace ringwright::traces {

struct TextMachine {
  std::int64_t ranks = 1;
  std::int64_t gpus_per_host = 1;
};

struct TextReplay {
  TaskGraph graph;  // without layouts: lay_out_groups adds them
  Diagnostics warnings;
};

// `scale`: of all computing. Mistakes (E622) where the groups do not divide the ranks.
[[nodiscard]] Result<TextReplay> replay_text_workload(const TextWorkload& workload, const TextMachine& machine,
                                                      double scale = 1.0);

}  // namespace ringwright::traces
