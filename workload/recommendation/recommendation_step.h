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

#include "workload/recommendation/recommendation_model.h"
#include "workload/recommendation/table_placement.h"
#include "workload/step/step_builder.h"

namespace ringwright::workload {

// Buffers of one rank's collectives, as CollectiveSpec counts; 0 where there is no such collective.
struct ExchangeSizes {
  Bytes indices;         // all-to-all: indices and lengths of the samples' features
  Bytes pooled;          // all-to-all: pooled rows; the same for their gradients
  Bytes reduce_scatter;  // partial sums of tables split by rows; the same for the all-gather of gradients
};
[[nodiscard]] ExchangeSizes exchange_sizes(const RecommendationModel& model, const TablePlacement& placement);

// Parameters whose gradients are all-reduced: of dense layers and replicated tables.
[[nodiscard]] double all_reduced_parameters(const RecommendationModel& model, const TablePlacement& placement);

[[nodiscard]] StepPlan build_recommendation_step(const RecommendationModel& model, const TablePlacement& placement);

// The dimensions of its graph: "mp" for embeddings, "dp" for gradients.
[[nodiscard]] std::vector<std::string> recommendation_dimensions();

}  // namespace ringwright::workload
