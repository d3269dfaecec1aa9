#include "configs/scenario/imports/huggingface/local_experts.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "configs/scenario/imports/huggingface/keys.h"

namespace ringwright::configs {
namespace {

constexpr std::array<std::string_view, 7> kLocalExpertFamilies{
    "mixtral", "minimax_m2", "granitemoe", "granitemoeshared", "llama4_text", "ernie4_5_moe", "dbrx"};

workload::ExpertShape read_local_experts(ConfigMap& config, std::int64_t ffn) {
  workload::ExpertShape experts{.count = hf_size(config, "num_local_experts", "experts of a layer"),
                                .per_token = hf_size(config, "num_experts_per_tok", "experts per token")};
  experts.ffn = ffn;
  return experts;
}

void read_mixtral(ConfigMap& config, workload::ModelShape& shape) {
  read_hf_decoder(config, {.kv_heads = 8}, shape);
  shape.experts = read_local_experts(config, shape.ffn);
  read_hf_window(config, 0, shape);
}

void read_minimax(ConfigMap& config, workload::ModelShape& shape) {
  read_hf_decoder(config, {.head_size = 128, .kv_heads = 8}, shape);
  shape.query_key_norm =
      config.boolean({.name = "use_qk_norm", .doc = "a norm over queries and keys", .fallback = true});
  shape.experts = read_local_experts(config, shape.ffn);
  const bool predicts = config.boolean(
      {.name = "use_mtp", .doc = "whether there are layers of multi-token prediction", .fallback = false});
  const std::int64_t modules = config.integer(
      {.name = "num_mtp_modules", .doc = "layers of multi-token prediction", .fallback = 0, .min = 0, .max = 10'000});
  if (predicts) shape.predictors = modules;
}

void read_granite_moe(ConfigMap& config, std::string_view type, workload::ModelShape& shape) {
  read_hf_decoder(config, {}, shape);
  shape.biases = hf_attention_biases(config, false);
  workload::ExpertShape experts = read_local_experts(config, shape.ffn);
  if (type == "granitemoeshared") {
    experts.shared_ffn = config.integer({.name = "shared_intermediate_size",
                                         .doc = "width of the shared expert; 0: none",
                                         .fallback = 0,
                                         .min = 0,
                                         .max = 10'000'000});
  }
  shape.experts = experts;
}

// Layers with rotated positions attend within chunks, as a window of that size does in sequences that fit one; every
// n-th has no positions and attends to all.
void read_chunks(ConfigMap& config, workload::ModelShape& shape) {
  shape.window = hf_size_or(config, "attention_chunk_size", "tokens of a chunk of local attention", 8192);
  const std::int64_t interval =
      hf_size_or(config, "no_rope_layer_interval", "every n-th layer attends to all tokens", 4);
  const std::vector<std::int64_t> rotated =
      config.integers({.name = "no_rope_layers", .doc = "1: rotated positions and local attention, by layer"});
  std::vector<bool> windowed;
  for (const std::int64_t rotates : rotated) windowed.push_back(rotates != 0);
  set_hf_windows(config, {.key = "no_rope_layers", .windowed = windowed, .period = interval}, shape);
}

// Llama 4: a shared expert as wide as the others; layers without experts have an MLP of their own width.
void read_llama4(ConfigMap& config, workload::ModelShape& shape) {
  read_hf_decoder(config, {.head_size = 128, .kv_heads = 8}, shape);
  shape.biases = hf_attention_biases(config, false);
  shape.query_key_norm =
      config.boolean({.name = "use_qk_norm", .doc = "a norm over each head's query and key", .fallback = true});
  workload::ExpertShape experts = read_local_experts(config, shape.ffn);
  experts.shared_ffn = shape.ffn;
  experts.every = hf_size_or(config, "interleave_moe_layer_step", "every n-th layer has experts", 1);
  shape.experts = experts;
  shape.ffn = hf_size(config, "intermediate_size_mlp", "width of the MLP of layers without experts");
  read_chunks(config, shape);
}

void read_ernie(ConfigMap& config, workload::ModelShape& shape) {
  read_hf_decoder(config, {.head_size = 128, .embeddings = workload::Embeddings::kTied}, shape);
  const bool biases = config.boolean({.name = "use_bias", .doc = "biases of the linear layers", .fallback = false});
  shape.biases = biases ? workload::kAllBiases : workload::kNoBiases;
  workload::ExpertShape experts{.count = hf_size(config, "moe_num_experts", "experts of a layer"),
                                .per_token = hf_size(config, "moe_k", "experts per token")};
  experts.ffn = hf_size(config, "moe_intermediate_size", "width of one expert");
  const std::int64_t shared = config.integer({.name = "moe_num_shared_experts",
                                              .doc = "shared experts, used by every token",
                                              .fallback = 0,
                                              .min = 0,
                                              .max = 10'000});
  experts.shared_ffn = experts.ffn * shared;
  experts.dense_layers = config.integer(
      {.name = "moe_layer_start_index", .doc = "first layers with a dense MLP", .fallback = 0, .min = 0});
  experts.every = hf_size_or(config, "moe_layer_interval", "every n-th layer has experts", 1);
  const std::int64_t last = config.integer(
      {.name = "moe_layer_end_index", .doc = "last layer with experts; -1: of the model", .fallback = -1, .min = -1});
  if (last != -1 && last + 1 < shape.layers) {
    config.error("moe_layer_end_index", "E133", "layers without experts after those with experts are not modelled",
                 "describe the model with explicit sizes");
  }
  shape.experts = experts;
}

// LayerNorm without a bias holds and moves as much as RMSNorm.
void read_dbrx(ConfigMap& config, workload::ModelShape& shape) {
  shape.layers = hf_size(config, "n_layers", "transformer layers");
  shape.hidden = hf_size(config, "d_model", "width of the residual stream");
  shape.heads = hf_size(config, "n_heads", "attention heads");
  shape.vocabulary = hf_size(config, "vocab_size", "tokens in the vocabulary");
  shape.max_positions = hf_size_or(config, "max_seq_len", "longest sequence of the model", 2048);
  read_hf_tied_embeddings(config, false, shape);
  ConfigMap attention = config.map("attn_config", "the attention");
  shape.kv_heads = hf_size_or(attention, "kv_n_heads", "key-value heads", 1);
  attention.ignore_rest("not needed to cost a training step");
  set_hf_even_heads(config, {.hidden = "d_model", .heads = "n_heads", .kv_heads = "", .head_size = ""}, shape);
  ConfigMap mlp = config.map("ffn_config", "the experts");
  workload::ExpertShape experts{.count = hf_size(mlp, "moe_num_experts", "experts of a layer"),
                                .per_token = hf_size(mlp, "moe_top_k", "experts per token")};
  shape.ffn = experts.ffn = hf_size(mlp, "ffn_hidden_size", "width of one expert");
  mlp.ignore_rest("not needed to cost a training step");
  shape.experts = experts;
  shape.hidden_dropout = hf_has_dropout(config, "resid_pdrop", "dropout after attention and MLP", 0.0);
}

}  // namespace

bool has_hf_local_experts(std::string_view type) {
  return std::ranges::find(kLocalExpertFamilies, type) != kLocalExpertFamilies.end();
}

void read_hf_local_experts(ConfigMap& config, std::string_view type, workload::ModelShape& shape) {
  if (type == "mixtral") read_mixtral(config, shape);
  if (type == "minimax_m2") read_minimax(config, shape);
  if (type == "granitemoe" || type == "granitemoeshared") read_granite_moe(config, type, shape);
  if (type == "llama4_text") read_llama4(config, shape);
  if (type == "ernie4_5_moe") read_ernie(config, shape);
  if (type == "dbrx") read_dbrx(config, shape);
}

}  // namespace ringwright::configs
