#include "configs/scenario/imports/huggingface/ungated.h"

#include <algorithm>
#include <array>

#include "configs/scenario/imports/huggingface/keys.h"
#include "workload/model/model_config.h"

namespace ringwright::configs {
namespace {

constexpr std::array<std::string_view, 5> kUngatedFamilies{"opt", "bloom", "mpt", "starcoder2", "nemotron"};

void set_ungated_kinds(workload::ModelShape& shape) {
  shape.normalization = workload::Normalization::kLayerNorm;
  shape.activation = workload::Activation::kGelu;  // ReLU and squared ReLU move the same bytes
}

// A narrower embedding than the residual stream (OPT 350M alone) is not counted.
void read_opt(ConfigMap& config, workload::ModelShape& shape) {
  shape.layers = hf_size(config, "num_hidden_layers", "transformer layers");
  shape.hidden = hf_size(config, "hidden_size", "width of the residual stream");
  shape.heads = shape.kv_heads = hf_size(config, "num_attention_heads", "attention heads");
  set_hf_even_heads(config, {.hidden = "hidden_size", .heads = "num_attention_heads", .kv_heads = "", .head_size = ""},
                    shape);
  shape.ffn = hf_size(config, "ffn_dim", "width of the MLP");
  shape.vocabulary = hf_size(config, "vocab_size", "tokens in the vocabulary");
  shape.max_positions = hf_size(config, "max_position_embeddings", "rows of the position table");
  set_ungated_kinds(shape);
  shape.positions = workload::Positions::kLearned;
  const bool biases = config.boolean({.name = "enable_bias", .doc = "biases of the linear layers", .fallback = true});
  shape.biases = biases ? workload::kAllBiases : workload::kNoBiases;
  read_hf_tied_embeddings(config, true, shape);
  shape.hidden_dropout = hf_has_dropout(config, "dropout", "dropout after attention and MLP", 0.1);
  shape.attention_dropout = hf_has_dropout(config, "attention_dropout", "dropout on attention probabilities", 0.0);
  const std::int64_t width = hf_size_or(config, "word_embed_proj_dim", "width of the embedding", shape.hidden);
  if (width != shape.hidden) {
    config.warn("word_embed_proj_dim", "W134",
                "an embedding of another width than the residual stream is not modelled: hidden_size is used");
  }
}

// Positions are biases of scores; the norm of the embedding is not counted.
void read_bloom(ConfigMap& config, workload::ModelShape& shape) {
  shape.layers = hf_size(config, "n_layer", "transformer layers");
  const std::string_view hidden = config.has("n_embed") ? "n_embed" : "hidden_size";
  shape.hidden = hf_size(config, hidden, "width of the residual stream");
  const std::string_view heads = config.has("num_attention_heads") ? "num_attention_heads" : "n_head";
  shape.heads = shape.kv_heads = hf_size(config, heads, "attention heads");
  set_hf_even_heads(config, {.hidden = hidden, .heads = heads, .kv_heads = "", .head_size = ""}, shape);
  shape.ffn = 4 * shape.hidden;
  shape.vocabulary = hf_size(config, "vocab_size", "tokens in the vocabulary");
  shape.max_positions = hf_size_or(config, "seq_length", "longest sequence of its training", 2048);
  set_ungated_kinds(shape);
  shape.positions = workload::Positions::kNone;
  shape.biases = workload::kAllBiases;
  read_hf_tied_embeddings(config, true, shape);
  shape.hidden_dropout = hf_has_dropout(config, "hidden_dropout", "dropout after attention and MLP", 0.0);
  shape.attention_dropout = hf_has_dropout(config, "attention_dropout", "dropout on attention probabilities", 0.0);
}

void read_mpt(ConfigMap& config, workload::ModelShape& shape) {
  shape.layers = hf_size(config, "n_layers", "transformer layers");
  shape.hidden = hf_size(config, "d_model", "width of the residual stream");
  shape.heads = shape.kv_heads = hf_size(config, "n_heads", "attention heads");
  set_hf_even_heads(config, {.hidden = "d_model", .heads = "n_heads", .kv_heads = "", .head_size = ""}, shape);
  shape.ffn = shape.hidden * hf_size_or(config, "expansion_ratio", "width of the MLP over d_model", 4);
  shape.vocabulary = hf_size(config, "vocab_size", "tokens in the vocabulary");
  shape.max_positions = hf_size_or(config, "max_seq_len", "longest sequence of its training", 2048);
  set_ungated_kinds(shape);
  bool alibi = true;
  if (config.has("attn_config") || config.documenting()) {
    ConfigMap attention = config.map("attn_config", "the attention");
    alibi = attention.boolean({.name = "alibi", .doc = "positions as biases of scores", .fallback = true});
    shape.attention_dropout = hf_has_dropout(attention, "attn_pdrop", "dropout on attention probabilities", 0.0);
    attention.ignore_rest("not needed to cost a training step");
  }
  shape.positions = alibi ? workload::Positions::kNone : workload::Positions::kLearned;
  const bool biases = !config.boolean({.name = "no_bias", .doc = "linear layers without biases", .fallback = true});
  shape.biases = biases ? workload::kAllBiases : workload::kNoBiases;
  read_hf_tied_embeddings(config, true, shape);
  shape.hidden_dropout = hf_has_dropout(config, "resid_pdrop", "dropout after attention and MLP", 0.0);
}

// Grouped queries and rotated positions, by Llama's keys.
void read_grouped_decoder(ConfigMap& config, const HfDefaults& defaults, workload::ModelShape& shape) {
  read_hf_decoder(config, defaults, shape);
  set_ungated_kinds(shape);
}

void read_starcoder2(ConfigMap& config, workload::ModelShape& shape) {
  read_grouped_decoder(config, {.kv_heads = 2, .embeddings = workload::Embeddings::kTied}, shape);
  const bool biases = config.boolean({.name = "use_bias", .doc = "biases of the linear layers", .fallback = true});
  shape.biases = biases ? workload::kAllBiases : workload::kNoBiases;
  shape.hidden_dropout = hf_has_dropout(config, "residual_dropout", "dropout after attention and MLP", 0.0);
  read_hf_window(config, 0, shape);
}

void read_nemotron(ConfigMap& config, workload::ModelShape& shape) {
  read_grouped_decoder(config, {}, shape);
  shape.biases = hf_attention_biases(config, false);
  shape.biases.mlp = config.boolean({.name = "mlp_bias", .doc = "biases in the MLP", .fallback = false});
}

}  // namespace

bool is_hf_ungated_family(std::string_view type) {
  return std::ranges::find(kUngatedFamilies, type) != kUngatedFamilies.end();
}

void read_hf_ungated_family(ConfigMap& config, std::string_view type, workload::ModelShape& shape) {
  if (type == "opt") read_opt(config, shape);
  if (type == "bloom") read_bloom(config, shape);
  if (type == "mpt") read_mpt(config, shape);
  if (type == "starcoder2") read_starcoder2(config, shape);
  if (type == "nemotron") read_nemotron(config, shape);
}

}  // namespace ringwright::configs
