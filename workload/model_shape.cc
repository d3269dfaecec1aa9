#include "workload/model_shape.h"

#include <algorithm>

namespace ringwright::workload {
namespace {

std::int64_t mlp_inputs(const ModelShape& shape) {
  return shape.activation == Activation::kSwiGlu ? 2 : 1;
}
std::int64_t norm_elements(const ModelShape& shape) {
  return shape.normalization == Normalization::kLayerNorm ? 2 * shape.hidden : shape.hidden;
}

}  // namespace

std::int64_t kv_heads_per_rank(const ModelShape& shape, std::int64_t tp) {
  return std::max<std::int64_t>(1, shape.kv_heads / tp);
}

std::int64_t padded_vocabulary(const ModelShape& shape, std::int64_t tp) {
  const std::int64_t multiple = shape.vocabulary_multiple * tp;
  return (shape.vocabulary + multiple - 1) / multiple * multiple;
}

std::vector<ParameterTensor> attention_tensors(const ModelShape& shape, std::int64_t tp) {
  const std::int64_t query = shape.heads / tp * shape.head_size;
  const std::int64_t columns = query + 2 * kv_heads_per_rank(shape, tp) * shape.head_size;
  std::vector<ParameterTensor> tensors;
  tensors.push_back({.name = "attention norm", .elements = norm_elements(shape), .replicated = true});
  tensors.push_back({.name = "qkv", .elements = shape.hidden * columns});
  if (shape.biases != Biases::kNone) tensors.push_back({.name = "qkv bias", .elements = columns});
  if (shape.query_key_norm) {
    tensors.push_back({.name = "query and key norm", .elements = 2 * shape.head_size, .replicated = true});
  }
  tensors.push_back({.name = "attention projection", .elements = query * shape.hidden});
  if (shape.biases == Biases::kAllLinear) {
    tensors.push_back({.name = "attention projection bias", .elements = shape.hidden, .replicated = true});
  }
  return tensors;
}

std::vector<ParameterTensor> mlp_tensors(const ModelShape& shape, std::int64_t tp) {
  const std::int64_t columns = mlp_inputs(shape) * (shape.ffn / tp);
  std::vector<ParameterTensor> tensors;
  tensors.push_back({.name = "mlp norm", .elements = norm_elements(shape), .replicated = true});
  tensors.push_back({.name = "mlp up", .elements = shape.hidden * columns});
  if (shape.biases == Biases::kAllLinear) tensors.push_back({.name = "mlp up bias", .elements = columns});
  tensors.push_back({.name = "mlp down", .elements = shape.ffn / tp * shape.hidden});
  if (shape.biases == Biases::kAllLinear) {
    tensors.push_back({.name = "mlp down bias", .elements = shape.hidden, .replicated = true});
  }
  return tensors;
}

std::vector<ParameterTensor> embedding_tensors(const ModelShape& shape, std::int64_t tp) {
  std::vector<ParameterTensor> tensors;
  tensors.push_back({.name = "word embedding", .elements = padded_vocabulary(shape, tp) / tp * shape.hidden});
  if (shape.positions == Positions::kLearned) {
    tensors.push_back(
        {.name = "position embedding", .elements = shape.max_positions * shape.hidden, .replicated = true});
  }
  return tensors;
}

std::vector<ParameterTensor> head_tensors(const ModelShape& shape, std::int64_t tp, OutputWeights weights) {
  std::vector<ParameterTensor> tensors;
  tensors.push_back({.name = "final norm", .elements = norm_elements(shape), .replicated = true});
  if (weights == OutputWeights::kOwn) {
    tensors.push_back({.name = "output layer", .elements = padded_vocabulary(shape, tp) / tp * shape.hidden});
  }
  return tensors;
}

std::int64_t count_elements(const std::vector<ParameterTensor>& tensors) {
  std::int64_t total = 0;
  for (const ParameterTensor& tensor : tensors) total += tensor.elements;
  return total;
}

std::int64_t parameters(const ModelShape& shape) {
  ModelShape unpadded = shape;
  unpadded.vocabulary_multiple = 1;
  const auto output = shape.embeddings == Embeddings::kTied ? OutputWeights::kShared : OutputWeights::kOwn;
  return shape.layers * (count_elements(attention_tensors(shape, 1)) + count_elements(mlp_tensors(shape, 1))) +
         count_elements(embedding_tensors(unpadded, 1)) + count_elements(head_tensors(unpadded, 1, output));
}

Flops attention_core_flops(const ModelShape& shape, std::int64_t sequences, AttentionCount count) {
  const auto s = static_cast<double>(shape.sequence);
  const double full = 4.0 * static_cast<double>(sequences) * s * s * static_cast<double>(shape.heads * shape.head_size);
  return Flops(count == AttentionCount::kFull ? full : full / 2.0);
}

Flops layer_forward_flops(const ModelShape& shape, std::int64_t sequences, AttentionCount count) {
  const auto tokens = static_cast<double>(sequences * shape.sequence);
  const auto h = static_cast<double>(shape.hidden);
  const auto query = static_cast<double>(shape.heads * shape.head_size);
  const auto key_value = static_cast<double>(2 * shape.kv_heads * shape.head_size);
  const auto mlp = static_cast<double>((mlp_inputs(shape) + 1) * shape.ffn);
  const double products = 2.0 * tokens * h * (query + key_value) + 2.0 * tokens * query * h + 2.0 * tokens * h * mlp;
  return Flops(products) + attention_core_flops(shape, sequences, count);
}

Flops model_flops(const ModelShape& shape, std::int64_t sequences, AttentionCount count) {
  const double logits = 2.0 * static_cast<double>(sequences * shape.sequence) * static_cast<double>(shape.hidden) *
                        static_cast<double>(shape.vocabulary);
  const Flops layers = layer_forward_flops(shape, sequences, count) * static_cast<double>(shape.layers);
  return (layers + Flops(logits)) * 3.0;
}

}  // namespace ringwright::workload
