#include "configs/scenario/imports/huggingface/parallel_blocks.h"

#include <algorithm>
#include <array>

#include "configs/scenario/imports/huggingface/keys.h"
#include "workload/model/model_config.h"

namespace ringwright::configs {
namespace {

constexpr std::array<std::string_view, 6> kParallelFamilies{"gptj", "gpt_neox", "falcon", "phi", "cohere", "cohere2"};

// What the families share besides Cohere's: LayerNorm, GELU, rotated positions.
void set_kinds(workload::ModelShape& shape) {
  shape.normalization = workload::Normalization::kLayerNorm;
  shape.activation = workload::Activation::kGelu;
  shape.positions = workload::Positions::kRotary;
}

// By the names that most families share.
void read_layers(ConfigMap& config, workload::ModelShape& shape) {
  shape.layers = hf_size(config, "num_hidden_layers", "transformer layers");
  shape.hidden = hf_size(config, "hidden_size", "width of the residual stream");
  shape.heads = hf_size(config, "num_attention_heads", "attention heads");
}

void read_vocabulary(ConfigMap& config, workload::ModelShape& shape) {
  shape.vocabulary = hf_size(config, "vocab_size", "tokens in the vocabulary");
  shape.max_positions = hf_size_or(config, "max_position_embeddings", "longest sequence of the model", 2048);
  set_kinds(shape);
}

// GPT-J's attention has no biases; they are counted with those of its MLP, 0.01 % of its parameters.
void read_gptj(ConfigMap& config, workload::ModelShape& shape) {
  shape.layers = hf_size(config, "n_layer", "transformer layers");
  shape.hidden = hf_size(config, "n_embd", "width of the residual stream");
  shape.heads = shape.kv_heads = hf_size(config, "n_head", "attention heads");
  set_hf_even_heads(config, {.hidden = "n_embd", .heads = "n_head", .kv_heads = "", .head_size = ""}, shape);
  shape.ffn = hf_size_or(config, "n_inner", "width of the MLP", 4 * shape.hidden);
  shape.vocabulary = hf_size(config, "vocab_size", "tokens in the vocabulary");
  shape.max_positions = hf_size_or(config, "n_positions", "longest sequence of the model", 2048);
  set_kinds(shape);
  shape.biases = workload::kAllBiases;
  read_hf_tied_embeddings(config, false, shape);
  shape.hidden_dropout = hf_has_dropout(config, "resid_pdrop", "dropout after attention and MLP", 0.0);
  shape.attention_dropout = hf_has_dropout(config, "attn_pdrop", "dropout on attention probabilities", 0.0);
  shape.order = workload::BlockOrder::kParallelOneNorm;
}

void read_neox(ConfigMap& config, workload::ModelShape& shape) {
  read_layers(config, shape);
  shape.kv_heads = shape.heads;
  set_hf_even_heads(config, {.hidden = "hidden_size", .heads = "num_attention_heads", .kv_heads = "", .head_size = ""},
                    shape);
  shape.ffn = hf_size(config, "intermediate_size", "width of the MLP");
  read_vocabulary(config, shape);
  shape.biases = hf_attention_biases(config, true);
  shape.biases.mlp = true;
  read_hf_tied_embeddings(config, false, shape);
  shape.hidden_dropout = hf_has_dropout(config, "hidden_dropout", "dropout after attention and MLP", 0.0);
  shape.attention_dropout = hf_has_dropout(config, "attention_dropout", "dropout on attention probabilities", 0.0);
  const bool parallel =
      config.boolean({.name = "use_parallel_residual", .doc = "attention and MLP are parallel", .fallback = true});
  shape.order = parallel ? workload::BlockOrder::kParallelTwoNorms : workload::BlockOrder::kSequential;
}

// transformers, modeling_falcon.py: the new decoder (40B, 180B) has a norm for each half unless the file states another
// number.
void read_falcon(ConfigMap& config, workload::ModelShape& shape) {
  read_layers(config, shape);
  const bool renewed = config.boolean(
      {.name = "new_decoder_architecture", .doc = "grouped queries, parallel halves", .fallback = false});
  const bool one_key =
      config.boolean({.name = "multi_query", .doc = "all heads share keys and values", .fallback = true});
  shape.kv_heads = one_key ? 1 : shape.heads;
  if (renewed) shape.kv_heads = hf_size_or(config, "num_kv_heads", "key-value heads", shape.heads);
  set_hf_even_heads(config,
                    {.hidden = "hidden_size",
                     .heads = "num_attention_heads",
                     .kv_heads = renewed ? "num_kv_heads" : "",
                     .head_size = ""},
                    shape);
  shape.ffn = hf_size_or(config, "ffn_hidden_size", "width of the MLP", 4 * shape.hidden);
  read_vocabulary(config, shape);
  const bool biases = config.boolean({.name = "bias", .doc = "biases of the linear layers", .fallback = false});
  shape.biases = biases ? workload::kAllBiases : workload::kNoBiases;
  const bool alibi = config.boolean({.name = "alibi", .doc = "positions as biases of scores", .fallback = false});
  if (alibi) shape.positions = workload::Positions::kNone;
  read_hf_tied_embeddings(config, true, shape);
  shape.hidden_dropout = hf_has_dropout(config, "hidden_dropout", "dropout after attention and MLP", 0.0);
  shape.attention_dropout = hf_has_dropout(config, "attention_dropout", "dropout on attention probabilities", 0.0);
  const bool parallel =
      config.boolean({.name = "parallel_attn", .doc = "attention and MLP are parallel", .fallback = true});
  const auto norms = config.integer_or(
      {.name = "num_ln_in_parallel_attn", .doc = "norms of a layer with parallel halves", .min = 1, .max = 2}, "null");
  if (!parallel && !renewed) return;
  shape.order = norms.value_or(renewed ? 2 : 1) == 2 ? workload::BlockOrder::kParallelTwoNorms
                                                     : workload::BlockOrder::kParallelOneNorm;
}

// The bias of the output layer is not counted.
void read_phi(ConfigMap& config, workload::ModelShape& shape) {
  read_layers(config, shape);
  shape.kv_heads = hf_size_or(config, "num_key_value_heads", "key-value heads", shape.heads);
  set_hf_even_heads(
      config,
      {.hidden = "hidden_size", .heads = "num_attention_heads", .kv_heads = "num_key_value_heads", .head_size = ""},
      shape);
  shape.ffn = hf_size(config, "intermediate_size", "width of the MLP");
  read_vocabulary(config, shape);
  shape.biases = workload::kAllBiases;
  shape.query_key_norm =
      config.boolean({.name = "qk_layernorm", .doc = "a norm over each head's query and key", .fallback = false});
  read_hf_tied_embeddings(config, false, shape);
  shape.hidden_dropout = hf_has_dropout(config, "resid_pdrop", "dropout after attention and MLP", 0.0);
  shape.attention_dropout = hf_has_dropout(config, "attention_dropout", "dropout on attention probabilities", 0.0);
  shape.order = workload::BlockOrder::kParallelOneNorm;
}

// Command R: gated MLP, LayerNorm without a bias, which holds and moves as much as RMSNorm.
void read_cohere(ConfigMap& config, workload::ModelShape& shape) {
  read_hf_decoder(config, {.embeddings = workload::Embeddings::kTied}, shape);
  shape.biases = hf_attention_biases(config, false);
  shape.query_key_norm =
      config.boolean({.name = "use_qk_norm", .doc = "a norm over each head's query and key", .fallback = false});
  shape.order = workload::BlockOrder::kParallelOneNorm;
}

}  // namespace

bool is_hf_parallel_family(std::string_view type) {
  return std::ranges::find(kParallelFamilies, type) != kParallelFamilies.end();
}

void read_hf_parallel_family(ConfigMap& config, std::string_view type, workload::ModelShape& shape) {
  if (type == "gptj") read_gptj(config, shape);
  if (type == "gpt_neox") read_neox(config, shape);
  if (type == "falcon") read_falcon(config, shape);
  if (type == "phi") read_phi(config, shape);
  if (type == "cohere" || type == "cohere2") read_cohere(config, shape);
  if (type == "cohere2") read_hf_window_pattern(config, 4096, 4, shape);
}

}  // namespace ringwright::configs
