#include "workload/stage_parts.h"

namespace ringwright::workload {
namespace {

void add_point(Part& part, PointKind kind, std::vector<ParameterTensor> tensors) {
  part.points.push_back(kind);
  part.tensors.push_back(std::move(tensors));
}

}  // namespace

std::vector<Part> stage_parts(const ModelShape& shape, const ParallelOptions& parallel, int stage) {
  std::vector<Part> parts;
  for (int chunk = 0; chunk < parallel.virtual_stages; ++chunk) {
    Part part{.number = chunk * parallel.pp + stage};
    part.layers = parallel.layers_per_part[static_cast<std::size_t>(part.number)];
    part.embedding = part.number == 0;
    part.head = part.number == parallel.parts() - 1;
    if (part.embedding) add_point(part, PointKind::kEmbedding, embedding_tensors(shape, parallel.tp));
    for (std::int64_t layer = 0; layer < part.layers; ++layer) {
      add_point(part, PointKind::kAttention, attention_tensors(shape, parallel.tp));
      add_point(part, PointKind::kMlp, mlp_tensors(shape, parallel.tp));
    }
    if (part.head) {
      const bool shared = shape.embeddings == Embeddings::kTied && part.embedding;
      add_point(part, PointKind::kHead,
                head_tensors(shape, parallel.tp, shared ? OutputWeights::kShared : OutputWeights::kOwn));
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

std::int64_t count_elements(const std::vector<Part>& parts) {
  std::int64_t total = 0;
  for (const Part& part : parts) {
    for (const std::vector<ParameterTensor>& tensors : part.tensors) total += count_elements(tensors);
  }
  return total;
}

std::int64_t count_replicated(const std::vector<Part>& parts) {
  std::int64_t total = 0;
  for (const Part& part : parts) {
    for (const std::vector<ParameterTensor>& tensors : part.tensors) {
      for (const ParameterTensor& tensor : tensors) total += tensor.replicated ? tensor.elements : 0;
    }
  }
  return total;
}

bool shares_embedding(const ModelShape& shape, const ParallelOptions& parallel) {
  return shape.embeddings == Embeddings::kTied && parallel.pp > 1;
}

}  // namespace ringwright::workload
