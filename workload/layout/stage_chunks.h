// The contents of a pipeline stage: for each of its chunks the points of the forward pass and the parameters at each
// point.
#pragma once

#include <cstdint>
#include <vector>

#include "workload/layout/point_tensors.h"
#include "workload/model/model_shape.h"
#include "workload/options/training_options.h"

namespace ringwright::workload {

enum class PointKind {
  kEmbedding,
  kAttention,
  kWindowedAttention,
  kMamba,
  kDeltaNet,
  kNoMixer,  // of a layer of a hybrid model that is an MLP alone
  kMlp,
  kExperts,
  kNoMlp,          // of a layer that is a mixer alone
  kPredictor,      // joins the residual stream with the next token's embedding, for multi-token prediction
  kPredictorHead,  // the model's head, for the token after the next
  kHead
};
// The second half of a layer, where its backward pass begins.
[[nodiscard]] constexpr bool ends_layer(PointKind kind) {
  return kind == PointKind::kMlp || kind == PointKind::kExperts || kind == PointKind::kNoMlp;
}
// Of the layer whose halves are these points.
[[nodiscard]] LayerHalves halves_at(PointKind mixer, PointKind mlp);

// One chunk of one stage.
struct ModelChunk {
  int number = 0;           // in model order
  std::int64_t layers = 0;  // with those of multi-token prediction
  bool embedding = false;
  bool head = false;
  bool shares_output = false;     // the output layer uses the weights of its embedding
  std::vector<PointKind> points;  // in forward order
  PointTensors tensors;           // by point
};

// By chunk.
[[nodiscard]] std::vector<ModelChunk> stage_chunks(const ModelShape& shape, const ParallelOptions& parallel, int stage);
// By stage: the first stage whose chunks have the same points and parameters.
[[nodiscard]] std::vector<int> first_with_same_chunks(const ModelShape& shape, const ParallelOptions& parallel);

[[nodiscard]] std::int64_t count_elements(const std::vector<ModelChunk>& parts);
// Of tensors that are not frozen.
[[nodiscard]] std::int64_t count_trainable(const std::vector<ModelChunk>& parts);
[[nodiscard]] std::int64_t local_experts(const ModelShape& shape, const ParallelOptions& parallel);
// The weights of the layers' GEMMs. Those of a rank's experts are one tensor of `parts`.
struct LayerMatrices {
  std::int64_t count = 0;
  std::int64_t elements = 0;
};
enum class Matrices { kAll, kTrained };
[[nodiscard]] LayerMatrices layer_matrices(const std::vector<ModelChunk>& parts, std::int64_t local_experts,
                                           Matrices of);
// Of experts only.
[[nodiscard]] std::int64_t count_expert_elements(const std::vector<ModelChunk>& parts);
// Of trained tensors that every tensor-parallel rank holds whole.
[[nodiscard]] std::int64_t count_replicated(const std::vector<ModelChunk>& parts);
// Whether first and last stage hold copies of one embedding, whose gradients must be summed.
[[nodiscard]] bool shares_embedding(const ModelShape& shape, const ParallelOptions& parallel);

}  // namespace ringwright::workload
