// The shape of a transformer: its sizes, its parameter tensors, and the arithmetic of one training step.
//
// Symbols of the formulas: h hidden, a heads, k key-value heads, d head size, f feed-forward size, L layers, V
// vocabulary, s sequence, B sequences in a training step, t tensor-parallel size; E experts, K of them for each token,
// l the width of tokens inside experts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/units.h"
#include "workload/model/delta_net.h"
#include "workload/model/mamba.h"

namespace ringwright::workload {

enum class Normalization { kLayerNorm, kRmsNorm };
enum class Activation { kGelu, kSwiGlu };  // SwiGLU: gate and up are two GEMMs, the down GEMM takes SiLU(gate) * up
enum class Positions { kNone, kLearned, kRotary, kYarn };  // YaRN: rotary, and scaled (arXiv 2309.00071)
enum class Embeddings { kTied, kUntied };  // tied: the output layer uses the word embedding's weights

// Which linear layers of the blocks have a bias. Those of the router and of experts are the MLP's.
struct Biases {
  bool qkv = false;
  bool projection = false;
  bool mlp = false;

  friend bool operator==(const Biases&, const Biases&) = default;
};
inline constexpr Biases kNoBiases{};
inline constexpr Biases kQkvBiases{.qkv = true};
inline constexpr Biases kAttentionBiases{.qkv = true, .projection = true};
inline constexpr Biases kAllBiases{.qkv = true, .projection = true, .mlp = true};

enum class Masking { kCausal, kBidirectional };

// How attention and MLP of a layer follow each other. Parallel: both read the layer's input and are added to it at
// once, x + attention(norm(x)) + mlp(norm(x)): after one norm (GPT-J, PaLM, Falcon-7B) or one for each (GPT-NeoX,
// Falcon-40B).
enum class BlockOrder { kSequential, kParallelOneNorm, kParallelTwoNorms };

// Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434, section 2.1): queries, keys and values are made from
// narrow latent vectors; a rotated part of the key is shared by all heads.
struct LatentAttention {
  std::int64_t query_rank = 0;  // 0: queries are projected directly from the residual stream
  std::int64_t key_value_rank = 1;
  std::int64_t plain_size = 1;    // of a head's query and key, not rotated
  std::int64_t rotated_size = 1;  // of a head's query and key, rotated
  std::int64_t value_size = 1;

  friend bool operator==(const LatentAttention&, const LatentAttention&) = default;
};

// DeepSeek sparse attention (DeepSeek-V3.2, arXiv 2512.02556, section 2): which tokens a token attends to is chosen by
// the scores of an indexer, with narrow heads of their own and one key for all of them.
struct SparseIndexer {
  std::int64_t heads = 1;
  std::int64_t head_size = 1;
  std::int64_t chosen = 1;  // tokens that a token attends to
  bool loss = false;        // trained to match the attention's probabilities

  friend bool operator==(const SparseIndexer&, const SparseIndexer&) = default;
};

// Layers with a mixture of experts as MLP.
struct ExpertShape {
  std::int64_t count = 1;
  std::int64_t per_token = 1;
  std::int64_t ffn = 1;
  std::int64_t shared_ffn = 0;    // shared experts, as one MLP of this width; 0: none
  std::int64_t dense_layers = 0;  // the first layers have a dense MLP
  std::int64_t every = 1;         // of the others, every n-th has experts
  std::int64_t groups = 1;        // experts are in groups, and a token uses experts of `group_limit` of them
  std::int64_t group_limit = 1;
  std::int64_t latent = 0;   // width l to which tokens are projected before dispatch (LatentMoE); 0: none
  bool shared_gate = false;  // the shared experts' result is scaled by a learned sigmoid of the token (Qwen2-MoE)
  bool clamped = false;      // gate and input of the activation are clamped by operators of their own (GPT-OSS)

  friend bool operator==(const ExpertShape&, const ExpertShape&) = default;
};

// Low-rank adapters (Hu et al., LoRA, arXiv 2106.09685): the model's weights are frozen, and in addition to the chosen
// GEMMs x W a narrow x A B is trained, A of inputs x rank and B of rank x outputs.
struct LowRankAdapters {
  std::int64_t rank = 1;
  bool qkv = false;
  bool projection = false;
  bool mlp_up = false;  // of ordinary MLPs; experts have none
  bool mlp_down = false;

  friend bool operator==(const LowRankAdapters&, const LowRankAdapters&) = default;
};

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
  Biases biases = kNoBiases;
  Embeddings embeddings = Embeddings::kUntied;
  bool query_key_norm = false;     // an RMSNorm over each head's query and key (Qwen3)
  bool sandwich_norm = false;      // a norm of each half's result too, before it is added (Gemma 2); sequential halves
  bool hidden_dropout = false;     // dropout after the embedding, the attention and the MLP
  bool attention_dropout = false;  // dropout on the attention probabilities
  bool output_gate = false;        // attention's result is scaled by a sigmoid of as many more columns (Qwen3-Next)
  bool attention_sinks = false;    // one learned logit per head that absorbs probability (GPT-OSS)
  Masking masking = Masking::kCausal;
  BlockOrder order = BlockOrder::kSequential;
  std::int64_t window = 0;          // tokens that a token attends to, itself included; 0: all
  std::int64_t full_every = 0;      // every n-th layer attends to all despite the window; 0: none
  std::int64_t predictors = 0;      // further layers that predict the tokens after the next (DeepSeek-V3, section 2.2)
  bool repeated_predictor = false;  // they are one layer, repeated (Nemotron 3 Super)
  std::optional<LatentAttention> latent;
  std::optional<SparseIndexer> indexer;  // with latent attention
  std::optional<ExpertShape> experts;
  std::optional<LowRankAdapters> adapters;
  std::optional<HybridShape> hybrid;  // layers of one half each, some of them Mamba-2
  std::optional<DeltaNetShape> delta_net;

  friend bool operator==(const ModelShape&, const ModelShape&) = default;
};

// Layers count from 0; those of multi-token prediction follow and are like the last of the others.
[[nodiscard]] bool has_experts(const ModelShape& shape, std::int64_t layer);
// By frequency: not of hybrid models.
[[nodiscard]] bool has_delta_net(const ModelShape& shape, std::int64_t layer);
[[nodiscard]] bool is_windowed(const ModelShape& shape, std::int64_t layer);
// Queries and keys are rotated.
[[nodiscard]] bool rotates(const ModelShape& shape);
// The two halves of a layer; one of them is missing in a hybrid model.
[[nodiscard]] LayerHalves halves_of(const ModelShape& shape, std::int64_t layer);

// Width of a token inside experts: l, or h without a latent space.
[[nodiscard]] std::int64_t expert_hidden(const ModelShape& shape);

// Sizes of one head: of queries and keys, and of values.
[[nodiscard]] std::int64_t key_size(const ModelShape& shape);
[[nodiscard]] std::int64_t value_size(const ModelShape& shape);
// Pairs of query and key with a score in one sequence: s^2, half of it when causal, sw - w^2/2 in a window.
[[nodiscard]] double score_pairs(const ModelShape& shape, bool windowed);
// With sparse attention: pairs that the indexer chooses, sk - k^2/2.
[[nodiscard]] double chosen_pairs(const ModelShape& shape);

// One parameter tensor as a tensor-parallel rank holds it.
struct ParameterTensor {
  std::string_view name;  // a literal
  std::int64_t elements = 0;
  // Replicated tensors are held whole by every tensor-parallel rank; under sequence parallelism each rank processes
  // only a part of the sequence, so their gradients must be summed.
  bool replicated = false;
  bool frozen = false;  // neither gradient nor optimizer state
  bool expert = false;  // held by one expert-parallel rank: its gradient is summed over expert-data-parallel ranks
};

// A weight of the layers' GEMMs, which fp8 and fp4 recipes compute in a narrow type.
[[nodiscard]] bool is_layer_matrix(std::string_view name);

// How tensors are split within a layer.
struct TensorSplit {
  std::int64_t tp = 1;
  std::int64_t ep = 1;
  std::int64_t etp = 1;  // tensor-parallel size of experts
};

// Key-value heads that one tensor-parallel rank holds: k/t, or one (replicated) where t > k.
[[nodiscard]] std::int64_t kv_heads_per_rank(const ModelShape& shape, std::int64_t tp);
// Megatron: rounded up to a multiple of vocabulary_multiple * t, so that every rank holds the same number of rows.
[[nodiscard]] std::int64_t padded_vocabulary(const ModelShape& shape, std::int64_t tp);

// Columns of the attention's output gate on one rank.
[[nodiscard]] std::int64_t gate_columns(const ModelShape& shape, std::int64_t tp);
// In the order of the forward pass. The attention half precedes the MLP half.
[[nodiscard]] std::vector<ParameterTensor> attention_tensors(const ModelShape& shape, std::int64_t tp);
[[nodiscard]] std::vector<ParameterTensor> mlp_tensors(const ModelShape& shape, std::int64_t tp);
// Router, experts of this rank, shared experts.
[[nodiscard]] std::vector<ParameterTensor> expert_tensors(const ModelShape& shape, const TensorSplit& split);
[[nodiscard]] std::vector<ParameterTensor> mamba_tensors(const ModelShape& shape, std::int64_t tp);
[[nodiscard]] std::vector<ParameterTensor> delta_net_tensors(const ModelShape& shape, std::int64_t tp);
// Combines the residual stream with the next token's embedding before a layer of multi-token prediction.
[[nodiscard]] std::vector<ParameterTensor> predictor_tensors(const ModelShape& shape, std::int64_t tp);
[[nodiscard]] std::vector<ParameterTensor> embedding_tensors(const ModelShape& shape, std::int64_t tp);
// Shared: the output layer's weights are those of the word embedding on the same rank.
enum class OutputWeights { kOwn, kShared };
[[nodiscard]] std::vector<ParameterTensor> head_tensors(const ModelShape& shape, std::int64_t tp,
                                                        OutputWeights weights);

[[nodiscard]] std::int64_t count_elements(const std::vector<ParameterTensor>& tensors);
// Without frozen tensors.
[[nodiscard]] std::int64_t count_trainable(const std::vector<ParameterTensor>& tensors);
// Of the whole model as published: unpadded vocabulary, tied weights once, without the layers of multi-token
// prediction.
[[nodiscard]] std::int64_t parameters(const ModelShape& shape);
// Of these, those used by one token.
[[nodiscard]] std::int64_t active_parameters(const ModelShape& shape);

// Causal attention needs half of the score matrix. Korthikanti et al. (arXiv 2205.05198) and most papers up to 2023
// count all of it; Megatron counts half since 2024.
enum class AttentionCount { kFull, kCausal };

// Formulas: 2bsh(ad + 2kd) + 2bs(ad)h + core + (4 or 6)bshf, core = 4bs^2(ad) or half of it; with experts
// 6bsh(Kf + shared f) + 2bshE, in a latent space 6bs(l Kf + h shared f) + 4bshl + 2bshE. Layer 0 when none is named.
[[nodiscard]] Flops layer_forward_flops(const ModelShape& shape, std::int64_t sequences, AttentionCount count,
                                        std::int64_t layer = 0);
[[nodiscard]] Flops attention_core_flops(const ModelShape& shape, std::int64_t sequences, AttentionCount count,
                                         std::int64_t layer = 0);
[[nodiscard]] Flops mamba_forward_flops(const ModelShape& shape, std::int64_t sequences);
[[nodiscard]] Flops delta_net_forward_flops(const ModelShape& shape, std::int64_t sequences);
// Forward and backward (twice the forward) of all layers and of the logits, without any recomputation. For f = 4h and
// k = a: 72BLsh^2(1 + s/(6h) + V/(12hL)), Korthikanti et al., Appendix A.
// With adapters the GEMMs of frozen weights have no weight gradient: backward they need as much as forward. Attention
// has no weights and needs twice as much as before, and so do the adapters.
[[nodiscard]] Flops logit_flops(const ModelShape& shape, std::int64_t sequences);  // forward, of all tokens
[[nodiscard]] Flops model_flops(const ModelShape& shape, std::int64_t sequences, AttentionCount count);

}  // namespace ringwright::workload
