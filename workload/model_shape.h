// The shape of a dense decoder model: its sizes, its parameter tensors, and the arithmetic that one training step
// needs.
//
// Symbols of the formulas: h hidden, a heads, k key-value heads, d head size, f feed-forward size, L layers, V
// vocabulary, s sequence, B sequences in a training step, t tensor-parallel size.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/units.h"

namespace ringwright::workload {

enum class Normalization { kLayerNorm, kRmsNorm };
enum class Activation { kGelu, kSwiGlu };  // SwiGLU: gate and up are two products, SiLU(gate) * up goes down
enum class Positions { kNone, kLearned, kRotary };
enum class Biases { kNone, kQkvOnly, kAllLinear };
enum class Embeddings { kTied, kUntied };  // tied: the output layer uses the word embedding's weights

struct ModelShape {
  std::string name;
  std::int64_t layers = 1;
  std::int64_t hidden = 1;
  std::int64_t heads = 1;
  std::int64_t kv_heads = 1;
  std::int64_t head_size = 1;
  std::int64_t ffn = 1;
  std::int64_t vocabulary = 1;
  std::int64_t sequence = 1;
  std::int64_t max_positions = 1;          // rows of the learned position table
  std::int64_t vocabulary_multiple = 128;  // Megatron: the vocabulary is padded to a multiple of this times t
  Normalization normalization = Normalization::kRmsNorm;
  Activation activation = Activation::kSwiGlu;
  Positions positions = Positions::kRotary;
  Biases biases = Biases::kNone;
  Embeddings embeddings = Embeddings::kUntied;
  bool query_key_norm = false;     // an RMSNorm over each head's query and key (Qwen3)
  bool hidden_dropout = false;     // dropout after the embedding, the attention and the MLP
  bool attention_dropout = false;  // dropout on the attention probabilities
};

// One parameter tensor as a tensor-parallel rank holds it.
struct ParameterTensor {
  std::string name;
  std::int64_t elements = 0;
  // Replicated tensors are held whole by every tensor-parallel rank; under sequence parallelism each of them sees a
  // part of the sequence only, so that their gradients must be summed.
  bool replicated = false;
};

// Key-value heads that one tensor-parallel rank holds: k/t, or one (replicated) where t > k.
[[nodiscard]] std::int64_t kv_heads_per_rank(const ModelShape& shape, std::int64_t tp);
// Megatron: rounded up to a multiple of vocabulary_multiple * t, so that every rank holds the same number of rows.
[[nodiscard]] std::int64_t padded_vocabulary(const ModelShape& shape, std::int64_t tp);

// In the order of the forward pass. The attention half comes first, then the MLP half.
[[nodiscard]] std::vector<ParameterTensor> attention_tensors(const ModelShape& shape, std::int64_t tp);
[[nodiscard]] std::vector<ParameterTensor> mlp_tensors(const ModelShape& shape, std::int64_t tp);
[[nodiscard]] std::vector<ParameterTensor> embedding_tensors(const ModelShape& shape, std::int64_t tp);
// Shared: the output layer's weights are those of the word embedding on the same rank.
enum class OutputWeights { kOwn, kShared };
[[nodiscard]] std::vector<ParameterTensor> head_tensors(const ModelShape& shape, std::int64_t tp,
                                                        OutputWeights weights);

[[nodiscard]] std::int64_t count_elements(const std::vector<ParameterTensor>& tensors);
// Of the whole model as published: unpadded vocabulary, tied weights once.
[[nodiscard]] std::int64_t parameters(const ModelShape& shape);

// Causal attention needs half of the score matrix. Korthikanti et al. (arXiv 2205.05198) and most papers up to 2023
// count all of it; Megatron counts half since 2024.
enum class AttentionCount { kFull, kCausal };

// Formulas: 2bsh(ad + 2kd) + 2bs(ad)h + core + (4 or 6)bshf, core = 4bs^2(ad) or half of it.
[[nodiscard]] Flops layer_forward_flops(const ModelShape& shape, std::int64_t sequences, AttentionCount count);
[[nodiscard]] Flops attention_core_flops(const ModelShape& shape, std::int64_t sequences, AttentionCount count);
// Forward and backward (twice the forward) of all layers and of the logits, without any recomputation. For f = 4h and
// k = a: 72BLsh^2(1 + s/(6h) + V/(12hL)), Korthikanti et al., Appendix A.
[[nodiscard]] Flops model_flops(const ModelShape& shape, std::int64_t sequences, AttentionCount count);

}  // namespace ringwright::workload
