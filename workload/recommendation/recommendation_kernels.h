// The kernels of a recommendation model on one rank.
//
// Lookups are fused over tables (FBGEMM's table-batched embeddings): every row is read in whole 32-byte sectors of
// memory, at a share of the speed of a stream, and its pooled sum is written; indices are read. The backward pass sorts
// the indices, reads the gradient of every looked up row, and updates each distinct row once, together with its
// optimizer state (fused optimizer). Which rows are distinct, and which the cache has: table_lookups.h. A sample's
// gradient is read once for each row that it looked up, from the cache where a table's gradients fit into it.
// Dense layers: a GEMM with bias, and a ReLU, for each; three kernels backward, or two without gradient of the input.
#pragma once

#include <cstdint>
#include <vector>

#include "core/plan/kernel.h"
#include "workload/recommendation/recommendation_model.h"
#include "workload/recommendation/table_placement.h"
#include "workload/recommendation/table_share.h"

namespace ringwright::workload {

// The host reads how many indices the ranks will exchange.
[[nodiscard]] std::vector<Kernel> size_kernels(const RecommendationModel& model, const TablePlacement& placement);

// Each is empty for no tables.
[[nodiscard]] std::vector<Kernel> lookup_kernels(const RecommendationModel& model, const std::string& name,
                                                 const std::vector<TableShare>& tables);
// Of the indices by row.
[[nodiscard]] std::vector<Kernel> sort_kernels(const RecommendationModel& model, const std::string& name,
                                               const std::vector<TableShare>& tables);
[[nodiscard]] std::vector<Kernel> sparse_update_kernels(const RecommendationModel& model, const std::string& name,
                                                        const std::vector<TableShare>& tables);
// A dense gradient of whole tables, as PyTorch makes it for DistributedDataParallel.
[[nodiscard]] std::vector<Kernel> dense_gradient_kernels(const RecommendationModel& model,
                                                         const std::vector<TableShare>& tables);

[[nodiscard]] std::vector<Kernel> layer_forward(const RecommendationModel& model, const DenseLayer& layer,
                                                std::int64_t samples);
enum class InputGradient { kNeeded, kNotNeeded };
[[nodiscard]] std::vector<Kernel> input_gradient_kernels(const RecommendationModel& model, const DenseLayer& layer,
                                                         std::int64_t samples, InputGradient input);
[[nodiscard]] std::vector<Kernel> weight_gradient_kernels(const RecommendationModel& model, const DenseLayer& layer,
                                                          std::int64_t samples);
// Without the cross layers' GEMMs.
[[nodiscard]] std::vector<Kernel> interaction_forward(const RecommendationModel& model, std::int64_t samples);
[[nodiscard]] std::vector<Kernel> interaction_backward(const RecommendationModel& model, std::int64_t samples);
[[nodiscard]] std::vector<Kernel> cross_forward(const RecommendationModel& model, std::int64_t samples);
[[nodiscard]] std::vector<Kernel> cross_backward(const RecommendationModel& model, std::int64_t samples);
[[nodiscard]] std::vector<Kernel> loss_kernels(const RecommendationModel& model, std::int64_t samples);
// Weights of dense layers and replicated tables.
[[nodiscard]] std::vector<Kernel> dense_update(const RecommendationModel& model, double parameters);

}  // namespace ringwright::workload
