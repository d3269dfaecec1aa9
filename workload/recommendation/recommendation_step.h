// One training step of a recommendation model as a task graph, in the order of the DLRM reference code and TorchRec.
//
// Every rank looks up its tables for the whole batch. Pooled rows go to the ranks of their samples: all-to-all for
// whole tables and column parts, reduce-scatter for tables split by rows, whose partial sums all ranks hold. Meanwhile
// the bottom MLP runs; then the interaction and the top MLP, forward and backward; then the gradients of pooled rows
// return (all-to-all, all-gather) while the bottom MLP runs backward; then tables are updated. Gradients of dense
// layers are all-reduced in buckets, as DistributedDataParallel does: one starts when its last gradient is there, the
// first one at 1 MiB. All collectives are on one NCCL communicator, hence one after another.
//
// An all-to-all has the size of the largest rank's: that rank's link is the last to finish. With equal parts this is
// B / n * sum(D) * e bytes for a batch B on n ranks, of which (n - 1) / n leave the rank (arXiv 2003.09518).
#pragma once

#include "workload/recommendation/exchange_sizes.h"
#include "workload/recommendation/recommendation_model.h"
#include "workload/recommendation/table_placement.h"
#include "workload/step/step_builder.h"

namespace ringwright::workload {

// Parameters whose gradients are all-reduced: of dense layers and replicated tables.
[[nodiscard]] double all_reduced_parameters(const RecommendationModel& model, const TablePlacement& placement);

[[nodiscard]] StepPlan build_recommendation_step(const RecommendationModel& model, const TablePlacement& placement);

}  // namespace ringwright::workload
