// What a pipeline stage holds: for each of its chunks the points of the forward pass and the parameters at each point.
#pragma once

#include <cstdint>
#include <vector>

#include "workload/model_shape.h"
#include "workload/training_options.h"

namespace ringwright::workload {

enum class PointKind { kEmbedding, kAttention, kMlp, kHead };

// One chunk of one stage.
struct Part {
  int number = 0;  // in model order
  std::int64_t layers = 0;
  bool embedding = false;
  bool head = false;
  std::vector<PointKind> points;                      // in forward order
  std::vector<std::vector<ParameterTensor>> tensors;  // by point
};

// By chunk.
[[nodiscard]] std::vector<Part> stage_parts(const ModelShape& shape, const ParallelOptions& parallel, int stage);

[[nodiscard]] std::int64_t count_elements(const std::vector<Part>& parts);
// Of tensors that every tensor-parallel rank holds whole.
[[nodiscard]] std::int64_t count_replicated(const std::vector<Part>& parts);
// Whether first and last stage hold copies of one embedding, whose gradients must be summed.
[[nodiscard]] bool shares_embedding(const ModelShape& shape, const ParallelOptions& parallel);

}  // namespace ringwright::workload
