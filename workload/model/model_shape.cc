#include "workload/model/model_shape.h"

#include <algorithm>
#include <array>

namespace ringwright::workload {
namespace {

std::int64_t mlp_inputs(const ModelShape& shape) {
  return shape.activation == Activation::kSwiGlu ? 2 : 1;
}
std::int64_t norm_elements(const ModelShape& shape) {
  return shape.normalization == Normalization::kLayerNorm ? 2 * shape.hidden : shape.hidden;
}

ParameterTensor replicated(std::string_view name, std::int64_t elements) {
  return {.name = name, .elements = elements, .replicated = true};
}

// Freezes the existing tensors and adds an adapter to a GEMM: the matrix on the split side is split, the other one is
// held whole.
enum class Split { kColumns, kRows };
struct AdaptedGemm {
  std::string_view down;  // names of the adapter's matrices
  std::string_view up;
  std::int64_t inputs = 0;   // on this rank
  std::int64_t outputs = 0;  // on this rank
  Split split = Split::kColumns;
};
void add_adapter(const ModelShape& shape, const AdaptedGemm& gemm, std::vector<ParameterTensor>& tensors) {
  const std::int64_t rank = shape.adapters->rank;
  const bool columns = gemm.split == Split::kColumns;
  tensors.push_back({.name = gemm.down, .elements = gemm.inputs * rank, .replicated = columns});
  tensors.push_back({.name = gemm.up, .elements = rank * gemm.outputs, .replicated = !columns});
}

void freeze(const ModelShape& shape, std::vector<ParameterTensor>& tensors) {
  if (!shape.adapters) return;
  for (ParameterTensor& tensor : tensors) tensor.frozen = true;
}

// The projections before the attention core, and their norms.
void add_latent_inputs(const ModelShape& shape, std::int64_t tp, std::vector<ParameterTensor>& tensors) {
  const LatentAttention& latent = *shape.latent;
  const std::int64_t query = shape.heads / tp * key_size(shape);
  const std::int64_t compressed = latent.key_value_rank + latent.rotated_size;
  if (latent.query_rank > 0) {
    tensors.push_back(replicated("query down", shape.hidden * latent.query_rank));
    tensors.push_back(replicated("query norm", latent.query_rank));
    tensors.push_back({.name = "query up", .elements = latent.query_rank * query});
  } else {
    tensors.push_back({.name = "query", .elements = shape.hidden * query});
  }
  tensors.push_back(replicated("key and value down", shape.hidden * compressed));
  tensors.push_back(replicated("key and value norm", latent.key_value_rank));
  const std::int64_t columns = shape.heads / tp * (latent.plain_size + latent.value_size);
  tensors.push_back({.name = "key and value up", .elements = latent.key_value_rank * columns});
  if (!shape.indexer) return;
  const SparseIndexer& indexer = *shape.indexer;
  const std::int64_t inputs = latent.query_rank > 0 ? latent.query_rank : shape.hidden;
  tensors.push_back(replicated("indexer queries", inputs * indexer.heads * indexer.head_size));
  tensors.push_back(replicated("indexer keys", shape.hidden * indexer.head_size));
  tensors.push_back(replicated("indexer key norm", 2 * indexer.head_size));
  tensors.push_back(replicated("indexer weights", shape.hidden * indexer.heads));
}

void add_plain_inputs(const ModelShape& shape, std::int64_t tp, std::vector<ParameterTensor>& tensors) {
  const std::int64_t query = shape.heads / tp * shape.head_size;
  const std::int64_t columns = query + gate_columns(shape, tp) + 2 * kv_heads_per_rank(shape, tp) * shape.head_size;
  tensors.push_back({.name = "qkv", .elements = shape.hidden * columns});
  if (shape.biases.qkv) tensors.push_back({.name = "qkv bias", .elements = columns});
  if (shape.query_key_norm) tensors.push_back(replicated("query and key norm", 2 * shape.head_size));
}

}  // namespace

bool is_layer_matrix(std::string_view name) {
  constexpr std::array kMatrices{std::string_view("qkv"),
                                 std::string_view("query"),
                                 std::string_view("query down"),
                                 std::string_view("query up"),
                                 std::string_view("key and value down"),
                                 std::string_view("key and value up"),
                                 std::string_view("indexer queries"),
                                 std::string_view("indexer keys"),
                                 std::string_view("indexer weights"),
                                 std::string_view("attention projection"),
                                 std::string_view("mlp up"),
                                 std::string_view("mlp down"),
                                 std::string_view("expert latent down"),
                                 std::string_view("expert latent up"),
                                 std::string_view("experts up"),
                                 std::string_view("experts down"),
                                 std::string_view("shared experts up"),
                                 std::string_view("shared experts down"),
                                 std::string_view("mamba in"),
                                 std::string_view("mamba out"),
                                 std::string_view("delta net in"),
                                 std::string_view("delta net out"),
                                 std::string_view("predictor projection")};
  return std::ranges::find(kMatrices, name) != kMatrices.end();
}

bool has_experts(const ModelShape& shape, std::int64_t layer) {
  if (!shape.experts) return false;
  if (shape.hybrid) return halves_of(shape, layer).mlp == MlpKind::kExperts;
  const std::int64_t place = std::min(layer, shape.layers - 1) - shape.experts->dense_layers;
  return place >= 0 && (place + 1) % shape.experts->every == 0;
}

bool rotates(const ModelShape& shape) {
  return shape.positions == Positions::kRotary || shape.positions == Positions::kYarn;
}

bool is_windowed(const ModelShape& shape, std::int64_t layer) {
  if (shape.window == 0 || shape.window >= shape.sequence) return false;
  return shape.full_every == 0 || (layer + 1) % shape.full_every != 0;
}

std::int64_t expert_hidden(const ModelShape& shape) {
  return shape.experts->latent > 0 ? shape.experts->latent : shape.hidden;
}

std::int64_t key_size(const ModelShape& shape) {
  return shape.latent ? shape.latent->plain_size + shape.latent->rotated_size : shape.head_size;
}
std::int64_t value_size(const ModelShape& shape) {
  return shape.latent ? shape.latent->value_size : shape.head_size;
}

double score_pairs(const ModelShape& shape, bool windowed) {
  const auto s = static_cast<double>(shape.sequence);
  const auto w = static_cast<double>(windowed ? shape.window : shape.sequence);
  return shape.masking == Masking::kCausal ? s * w - w * w / 2.0 : 2.0 * s * w - w * w;
}

double chosen_pairs(const ModelShape& shape) {
  ModelShape window = shape;
  window.window = std::min(shape.indexer->chosen, shape.sequence);
  return score_pairs(window, true);
}

std::int64_t kv_heads_per_rank(const ModelShape& shape, std::int64_t tp) {
  return std::max<std::int64_t>(1, shape.kv_heads / tp);
}

std::int64_t gate_columns(const ModelShape& shape, std::int64_t tp) {
  return shape.output_gate ? shape.heads / tp * value_size(shape) : 0;
}

std::int64_t padded_vocabulary(const ModelShape& shape, std::int64_t tp) {
  const std::int64_t multiple = shape.vocabulary_multiple * tp;
  return (shape.vocabulary + multiple - 1) / multiple * multiple;
}

std::vector<ParameterTensor> attention_tensors(const ModelShape& shape, std::int64_t tp) {
  std::vector<ParameterTensor> tensors;
  tensors.reserve(8);
  tensors.push_back(replicated("attention norm", norm_elements(shape)));
  if (shape.latent) {
    add_latent_inputs(shape, tp, tensors);
  } else {
    add_plain_inputs(shape, tp, tensors);
  }
  if (shape.attention_sinks) tensors.push_back({.name = "attention sinks", .elements = shape.heads / tp});
  tensors.push_back({.name = "attention projection", .elements = shape.heads / tp * value_size(shape) * shape.hidden});
  if (shape.biases.projection) tensors.push_back(replicated("attention projection bias", shape.hidden));
  if (shape.sandwich_norm) tensors.push_back(replicated("attention output norm", norm_elements(shape)));
  freeze(shape, tensors);
  if (!shape.adapters) return tensors;
  const std::int64_t query = shape.heads / tp * key_size(shape);
  const std::int64_t columns = query + gate_columns(shape, tp) + 2 * kv_heads_per_rank(shape, tp) * shape.head_size;
  if (shape.adapters->qkv)
    add_adapter(shape, {"qkv adapter down", "qkv adapter up", shape.hidden, columns, Split::kColumns}, tensors);
  if (shape.adapters->projection) {
    add_adapter(shape,
                {"attention projection adapter down", "attention projection adapter up",
                 shape.heads / tp * value_size(shape), shape.hidden, Split::kRows},
                tensors);
  }
  return tensors;
}

std::vector<ParameterTensor> mlp_tensors(const ModelShape& shape, std::int64_t tp) {
  const std::int64_t columns = mlp_inputs(shape) * (shape.ffn / tp);
  std::vector<ParameterTensor> tensors;
  tensors.reserve(8);
  if (shape.order != BlockOrder::kParallelOneNorm) tensors.push_back(replicated("mlp norm", norm_elements(shape)));
  tensors.push_back({.name = "mlp up", .elements = shape.hidden * columns});
  if (shape.biases.mlp) tensors.push_back({.name = "mlp up bias", .elements = columns});
  tensors.push_back({.name = "mlp down", .elements = shape.ffn / tp * shape.hidden});
  if (shape.biases.mlp) {
    tensors.push_back({.name = "mlp down bias", .elements = shape.hidden, .replicated = true});
  }
  if (shape.sandwich_norm) tensors.push_back(replicated("mlp output norm", norm_elements(shape)));
  freeze(shape, tensors);
  if (!shape.adapters) return tensors;
  if (shape.adapters->mlp_up)
    add_adapter(shape, {"mlp up adapter down", "mlp up adapter up", shape.hidden, columns, Split::kColumns}, tensors);
  if (shape.adapters->mlp_down)
    add_adapter(shape, {"mlp down adapter down", "mlp down adapter up", shape.ffn / tp, shape.hidden, Split::kRows},
                tensors);
  return tensors;
}

std::vector<ParameterTensor> expert_tensors(const ModelShape& shape, const TensorSplit& split) {
  const ExpertShape& experts = *shape.experts;
  const std::int64_t local = experts.count / split.ep;
  const std::int64_t width = experts.ffn / split.etp;
  const std::int64_t inner = expert_hidden(shape);
  const bool biased = shape.biases.mlp;
  std::vector<ParameterTensor> tensors;
  tensors.push_back(replicated("mlp norm", norm_elements(shape)));
  if (shape.sandwich_norm) tensors.push_back(replicated("mlp output norm", norm_elements(shape)));
  tensors.push_back(replicated("router", shape.hidden * experts.count));
  if (biased) tensors.push_back(replicated("router bias", experts.count));
  if (experts.latent > 0) {  // whole on every rank (Megatron-LM, moe_layer.py: TELinear, "duplicated")
    tensors.push_back(replicated("expert latent down", shape.hidden * inner));
    if (biased) tensors.push_back(replicated("expert latent down bias", inner));
    tensors.push_back(replicated("expert latent up", inner * shape.hidden));
    if (biased) tensors.push_back(replicated("expert latent up bias", shape.hidden));
  }
  const auto add = [&](const char* name, std::int64_t elements) {
    tensors.push_back({.name = name, .elements = local * elements, .expert = true});
  };
  add("experts up", inner * mlp_inputs(shape) * width);
  if (biased) add("experts up bias", mlp_inputs(shape) * width);
  add("experts down", width * inner);
  if (biased) add("experts down bias", inner);
  if (experts.shared_ffn == 0) {
    freeze(shape, tensors);
    return tensors;
  }
  const std::int64_t shared = experts.shared_ffn / split.tp;
  tensors.push_back({.name = "shared experts up", .elements = shape.hidden * mlp_inputs(shape) * shared});
  tensors.push_back({.name = "shared experts down", .elements = shared * shape.hidden});
  if (experts.shared_gate) tensors.push_back(replicated("shared experts gate", shape.hidden));
  freeze(shape, tensors);
  return tensors;
}

// Two norms, a GEMM from 2h to h, and the norm before the logits.
std::vector<ParameterTensor> predictor_tensors(const ModelShape& shape, std::int64_t tp) {
  std::vector<ParameterTensor> tensors;
  tensors.push_back(replicated("predictor norms", 3 * norm_elements(shape)));
  tensors.push_back({.name = "predictor projection", .elements = 2 * shape.hidden * shape.hidden / tp});
  freeze(shape, tensors);
  return tensors;
}

std::vector<ParameterTensor> embedding_tensors(const ModelShape& shape, std::int64_t tp) {
  std::vector<ParameterTensor> tensors;
  tensors.push_back({.name = "word embedding", .elements = padded_vocabulary(shape, tp) / tp * shape.hidden});
  if (shape.positions == Positions::kLearned) {
    tensors.push_back(
        {.name = "position embedding", .elements = shape.max_positions * shape.hidden, .replicated = true});
  }
  freeze(shape, tensors);
  return tensors;
}

std::vector<ParameterTensor> head_tensors(const ModelShape& shape, std::int64_t tp, OutputWeights weights) {
  std::vector<ParameterTensor> tensors;
  tensors.push_back({.name = "final norm", .elements = norm_elements(shape), .replicated = true});
  if (weights == OutputWeights::kOwn) {
    tensors.push_back({.name = "output layer", .elements = padded_vocabulary(shape, tp) / tp * shape.hidden});
  }
  freeze(shape, tensors);
  return tensors;
}

std::int64_t count_elements(const std::vector<ParameterTensor>& tensors) {
  std::int64_t total = 0;
  for (const ParameterTensor& tensor : tensors) total += tensor.elements;
  return total;
}

std::int64_t count_trainable(const std::vector<ParameterTensor>& tensors) {
  std::int64_t total = 0;
  for (const ParameterTensor& tensor : tensors) total += tensor.frozen ? 0 : tensor.elements;
  return total;
}

std::int64_t parameters(const ModelShape& shape) {
  ModelShape unpadded = shape;
  unpadded.vocabulary_multiple = 1;
  const auto output = shape.embeddings == Embeddings::kTied ? OutputWeights::kShared : OutputWeights::kOwn;
  std::int64_t total = count_elements(embedding_tensors(unpadded, 1)) +
                       count_elements(head_tensors(unpadded, 1, output));
  for (std::int64_t layer = 0; layer < shape.layers; ++layer) {
    const LayerHalves halves = halves_of(shape, layer);
    if (halves.mixer == Mixer::kAttention) total += count_elements(attention_tensors(shape, 1));
    if (halves.mixer == Mixer::kMamba) total += count_elements(mamba_tensors(shape, 1));
    if (halves.mixer == Mixer::kDeltaNet) total += count_elements(delta_net_tensors(shape, 1));
    if (halves.mlp == MlpKind::kDense) total += count_elements(mlp_tensors(shape, 1));
    if (halves.mlp == MlpKind::kExperts) total += count_elements(expert_tensors(shape, {}));
  }
  return total;
}

std::int64_t active_parameters(const ModelShape& shape) {
  std::int64_t total = parameters(shape);
  for (std::int64_t layer = 0; layer < shape.layers; ++layer) {
    if (!has_experts(shape, layer)) continue;
    for (const ParameterTensor& tensor : expert_tensors(shape, {})) {
      if (!tensor.expert) continue;
      total -= tensor.elements / shape.experts->count * (shape.experts->count - shape.experts->per_token);
    }
  }
  return total;
}

Flops attention_core_flops(const ModelShape& shape, std::int64_t sequences, AttentionCount count, std::int64_t layer) {
  const double asked = score_pairs(shape, is_windowed(shape, layer));
  const double pairs = count == AttentionCount::kFull && shape.masking == Masking::kCausal ? 2.0 * asked : asked;
  return Flops(2.0 * static_cast<double>(sequences) * pairs *
               static_cast<double>(shape.heads * (key_size(shape) + value_size(shape))));
}

namespace {

// Multiplications for one token in the GEMMs before and after the attention core.
double attention_gemms(const ModelShape& shape) {
  const auto h = static_cast<double>(shape.hidden);
  const auto heads = static_cast<double>(shape.heads);
  const double query = heads * static_cast<double>(key_size(shape));
  const double projection = heads * static_cast<double>(value_size(shape)) * h;
  if (!shape.latent) {
    const auto key_value = static_cast<double>(2 * shape.kv_heads * shape.head_size);
    return h * (query + static_cast<double>(gate_columns(shape, 1)) + key_value) + projection;
  }
  const LatentAttention& latent = *shape.latent;
  const auto rank = static_cast<double>(latent.query_rank);
  const double queries = latent.query_rank > 0 ? h * rank + rank * query : h * query;
  const double down = h * static_cast<double>(latent.key_value_rank + latent.rotated_size);
  const double up =
      static_cast<double>(latent.key_value_rank) * heads * static_cast<double>(latent.plain_size + latent.value_size);
  return queries + down + up + projection;
}

double mlp_gemms(const ModelShape& shape, std::int64_t layer) {
  const auto h = static_cast<double>(shape.hidden);
  const auto matrices = static_cast<double>(mlp_inputs(shape) + 1);
  if (!has_experts(shape, layer)) return matrices * h * static_cast<double>(shape.ffn);
  const ExpertShape& experts = *shape.experts;
  const auto inner = static_cast<double>(expert_hidden(shape));
  const double projections = experts.latent > 0 ? 2.0 * h * inner : 0.0;
  const double routed = inner * static_cast<double>(experts.per_token * experts.ffn);
  const double shared = h * static_cast<double>(experts.shared_ffn);
  return matrices * (routed + shared) + projections + h * static_cast<double>(experts.count);
}

// With adapters: what a layer needs besides twice the forward pass of the frozen model.
Flops trained_with_adapters(const ModelShape& shape, std::int64_t sequences, AttentionCount count,
                            std::int64_t layer) {
  const auto tokens = static_cast<double>(sequences * shape.sequence);
  const LayerHalves halves = halves_of(shape, layer);
  std::int64_t adapters = count_trainable(attention_tensors(shape, 1));
  if (halves.mlp == MlpKind::kDense) adapters += count_trainable(mlp_tensors(shape, 1));
  return attention_core_flops(shape, sequences, count, layer) + Flops(6.0 * tokens * static_cast<double>(adapters));
}

}  // namespace

Flops layer_forward_flops(const ModelShape& shape, std::int64_t sequences, AttentionCount count, std::int64_t layer) {
  const auto tokens = static_cast<double>(sequences * shape.sequence);
  const LayerHalves halves = halves_of(shape, layer);
  if (halves.mixer == Mixer::kMamba) return mamba_forward_flops(shape, sequences);
  const double mlp = halves.mlp == MlpKind::kNone ? 0.0 : mlp_gemms(shape, layer);
  if (halves.mixer == Mixer::kNone) return Flops(2.0 * tokens * mlp);
  if (halves.mixer == Mixer::kDeltaNet) return Flops(2.0 * tokens * mlp) + delta_net_forward_flops(shape, sequences);
  return Flops(2.0 * tokens * (attention_gemms(shape) + mlp)) + attention_core_flops(shape, sequences, count, layer);
}

Flops logit_flops(const ModelShape& shape, std::int64_t sequences) {
  const auto tokens = static_cast<double>(sequences * shape.sequence);
  const auto heads = static_cast<double>(1 + shape.predictors);
  return Flops(2.0 * tokens * static_cast<double>(shape.hidden) * static_cast<double>(shape.vocabulary) * heads);
}

Flops model_flops(const ModelShape& shape, std::int64_t sequences, AttentionCount count) {
  const double tokens = static_cast<double>(sequences * shape.sequence);
  const auto h = static_cast<double>(shape.hidden);
  const auto predictors = static_cast<double>(shape.predictors);
  Flops forward = logit_flops(shape, sequences) + Flops(4.0 * tokens * h * h * predictors);
  Flops trained;
  for (std::int64_t layer = 0; layer < shape.layers + shape.predictors; ++layer) {
    forward += layer_forward_flops(shape, sequences, count, layer);
    if (shape.adapters) trained += trained_with_adapters(shape, sequences, count, layer);
  }
  return forward * (shape.adapters ? 2.0 : 3.0) + trained;
}

}  // namespace ringwright::workload
