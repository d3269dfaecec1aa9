// The kernels of a recommendation model on one rank.
//
// Lookups are fused over tables (FBGEMM's table-batched embeddings): every row is read in whole 32-byte sectors of
// memory, at a share of the speed of a stream, and its pooled sum is written; indices are read. The backward pass sorts
// the indices, reads the gradient of every looked up row, and updates each distinct row once, together with its
// optimizer state (fused optimizer). Distinct rows: R (1 - (1 - 1/R)^n) for n lookups in R rows at random; of skewed
// lookups: row_access.h.
// Dense layers: a GEMM with bias, and a ReLU, for each; three kernels backward, or two without gradient of the input.
#pragma once

#include <cstdint>
#include <vector>

#include "core/plan/kernel.h"
#include "workload/recommendation/recommendation_model.h"
#include "workload/recommendation/table_placement.h"

namespace ringwright::workload {

// Tables, or parts of them, that one kernel looks up on a rank.
struct TableShare {
  std::int64_t tables = 0;  // or parts
  double rows = 0.0;        // of each, on this rank
  std::int64_t columns = 0;
  double lookups = 0.0;  // in each, in a step
  double samples = 0.0;  // that get a pooled row of each
};
// Of one kind of sharding on a rank; `ranks` and the local batch follow from the placement.
[[nodiscard]] std::vector<TableShare> placed_tables(const RecommendationModel& model, const TablePlacement& placement,
                                                    const PlacementRole& role);
[[nodiscard]] std::vector<TableShare> row_wise_tables(const RecommendationModel& model,
                                                      const TablePlacement& placement);
[[nodiscard]] std::vector<TableShare> replicated_tables(const RecommendationModel& model,
                                                        const TablePlacement& placement);

// Distinct rows among so many lookups, all rows equally likely.
[[nodiscard]] double distinct_rows(double rows, double lookups);
// The same by the model's skew.
[[nodiscard]] double distinct_rows(const RecommendationModel& model, double rows, double lookups);
// Of tables in host memory: distinct rows that a step fetches from there, and as many that it writes back. With a cache
// of the most popular rows: those of the batch that it does not hold. With a lookahead of L: those of the batch that
// enters the window, which are in none of the L before it.
[[nodiscard]] double fetched_rows(const RecommendationModel& model, double rows, double lookups);
// Rows in GPU memory: all where there is no cache.
[[nodiscard]] double held_rows(const RecommendationModel& model, double rows, double lookups);

// The host reads how many indices the ranks will exchange.
[[nodiscard]] std::vector<Kernel> size_kernels(const RecommendationModel& model, const TablePlacement& placement);

// Each is empty for no tables.
[[nodiscard]] std::vector<Kernel> lookup_kernels(const RecommendationModel& model, const std::string& name,
                                                 const std::vector<TableShare>& tables);
[[nodiscard]] std::vector<Kernel> sparse_update_kernels(const RecommendationModel& model, const std::string& name,
                                                        const std::vector<TableShare>& tables);
// A dense gradient of whole tables, as PyTorch makes it for DistributedDataParallel.
[[nodiscard]] std::vector<Kernel> dense_gradient_kernels(const RecommendationModel& model,
                                                         const std::vector<TableShare>& tables);

[[nodiscard]] std::vector<Kernel> layer_forward(const RecommendationModel& model, const DenseLayer& layer,
                                                std::int64_t samples);
enum class InputGradient { kNeeded, kNotNeeded };
[[nodiscard]] std::vector<Kernel> layer_backward(const RecommendationModel& model, const DenseLayer& layer,
                                                 std::int64_t samples, InputGradient input);
// Without the cross layers' GEMMs.
[[nodiscard]] std::vector<Kernel> interaction_forward(const RecommendationModel& model, std::int64_t samples);
[[nodiscard]] std::vector<Kernel> interaction_backward(const RecommendationModel& model, std::int64_t samples);
[[nodiscard]] std::vector<Kernel> cross_forward(const RecommendationModel& model, std::int64_t samples);
[[nodiscard]] std::vector<Kernel> cross_backward(const RecommendationModel& model, std::int64_t samples);
[[nodiscard]] std::vector<Kernel> loss_kernels(const RecommendationModel& model, std::int64_t samples);
// Weights of dense layers and replicated tables.
[[nodiscard]] std::vector<Kernel> dense_update(const RecommendationModel& model, double parameters);

}  // namespace ringwright::workload
