#include "configs/scenario/imports/huggingface/hybrid.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "configs/scenario/imports/huggingface/keys.h"
#include "workload/model/hybrid_config.h"
#include "workload/model/model_config.h"

namespace ringwright::configs {
namespace {

void read_sizes(ConfigMap& config, workload::ModelShape& shape) {
  shape.layers = hf_size(config, "num_hidden_layers", "layers, one letter of the pattern each");
  shape.hidden = hf_size(config, "hidden_size", "width of the residual stream");
  shape.heads = hf_size(config, "num_attention_heads", "attention heads");
  shape.kv_heads = hf_size_or(config, "num_key_value_heads", "key-value heads", shape.heads);
  const std::string_view head = config.has("attention_head_dim") ? "attention_head_dim" : "head_dim";
  shape.head_size = hf_size_or(config, head, "size of one head", 128);
  workload::check_heads(
      config,
      {.hidden = "", .heads = "num_attention_heads", .kv_heads = "num_key_value_heads", .head_size = head}, shape);
  shape.ffn = hf_size(config, "intermediate_size", "width of an MLP");
  shape.vocabulary = hf_size(config, "vocab_size", "tokens in the vocabulary");
  shape.max_positions = hf_size_or(config, "max_position_embeddings", "longest sequence of the model", 4096);
  read_hf_tied_embeddings(config, false, shape);
  shape.activation = workload::Activation::kGelu;  // squared ReLU, which moves the same bytes
  shape.positions = workload::Positions::kNone;
  shape.biases = hf_attention_biases(config, false);
  shape.biases.mlp = config.boolean({.name = "mlp_bias", .doc = "biases of MLPs and experts", .fallback = false});
  if (config.boolean({.name = "use_bias", .doc = "biases of the linear layers of Mamba-2", .fallback = false})) {
    config.warn("use_bias", "W134", "biases of the linear layers of Mamba-2 are not modelled: none are counted");
  }
}

void read_hybrid_experts(ConfigMap& config, workload::ModelShape& shape) {
  workload::ExpertShape experts{.count = hf_size(config, "n_routed_experts", "experts of a layer"),
                                .per_token = hf_size(config, "num_experts_per_tok", "experts per token")};
  experts.ffn = hf_size(config, "moe_intermediate_size", "width of one expert");
  experts.shared_ffn =
      hf_size(config, "moe_shared_expert_intermediate_size", "width of the shared experts");
  experts.groups = hf_size_or(config, "n_group", "groups of experts", 1);
  experts.group_limit = hf_size_or(config, "topk_group", "groups of experts per token", experts.groups);
  const auto latent = config.integer_or(
      {.name = "moe_latent_size", .doc = "width of the experts' latent space", .min = 1, .max = 10'000'000}, "null");
  experts.latent = latent.value_or(0);
  if (experts.per_token > experts.count) {
    config.error("num_experts_per_tok", "E132",
                 fmt::format("a token uses {} experts, but there are {}", experts.per_token, experts.count));
    experts.per_token = experts.count;
  }
  shape.experts = experts;
}

// transformers, configuration_granitemoehybrid.py.
void read_granite_sizes(ConfigMap& config, workload::ModelShape& shape) {
  shape.hidden = hf_size(config, "hidden_size", "width of the residual stream");
  shape.heads = hf_size(config, "num_attention_heads", "attention heads");
  shape.kv_heads = hf_size_or(config, "num_key_value_heads", "key-value heads", shape.heads);
  set_hf_even_heads(config,
                    {.hidden = "hidden_size",
                     .heads = "num_attention_heads",
                     .kv_heads = "num_key_value_heads",
                     .head_size = ""},
                    shape);
  shape.vocabulary = hf_size(config, "vocab_size", "tokens in the vocabulary");
  shape.max_positions = hf_size_or(config, "max_position_embeddings", "longest sequence of the model", 2048);
  read_hf_tied_embeddings(config, false, shape);
  const std::string positions = config.text(
      {.name = "position_embedding_type", .doc = "rope or nope: position encoding of attention", .fallback = "nope"});
  shape.positions = positions == "rope" ? workload::Positions::kRotary : workload::Positions::kNone;
  shape.biases = hf_attention_biases(config, false);
}

// The shared expert is there without others, too, and is then the layer's MLP.
void read_granite_experts(ConfigMap& config, workload::ModelShape& shape) {
  const std::int64_t shared = hf_size_or(config, "shared_intermediate_size", "width of the shared expert", 1024);
  shape.ffn = shared;
  const std::int64_t count = config.integer(
      {.name = "num_local_experts", .doc = "experts of a layer; 0: an MLP", .fallback = 8, .min = 0, .max = 10'000});
  if (count == 0 && !config.documenting()) return;
  workload::ExpertShape experts{.count = count,
                                .per_token = hf_size(config, "num_experts_per_tok", "experts per token")};
  experts.ffn = hf_size(config, "intermediate_size", "width of one expert");
  experts.shared_ffn = shared;
  shape.experts = experts;
}

std::string granite_order(ConfigMap& config, const workload::ModelShape& shape, std::int64_t layers) {
  const std::vector<std::string> types = config.texts({.name = "layer_types", .doc = "mamba or attention, by layer"});
  if (types.empty()) config.assume("layer_types", "all mamba", "not in config.json");
  std::string order;
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const auto place = static_cast<std::size_t>(layer);
    order += place < types.size() && types[place] == "attention" ? '*' : 'M';
    order += shape.experts ? 'E' : '-';
  }
  if (!types.empty() && types.size() != static_cast<std::size_t>(layers)) {
    config.error("layer_types", "E460", fmt::format("there are {} types for {} layers", types.size(), layers));
  }
  return order;
}

// Kinds of layers as letters, or as a list of names, which newer versions of transformers write.
struct LayerKinds {
  std::string_view letters;
  std::string_view types;
};
std::string read_letters(ConfigMap& config, const LayerKinds& keys) {
  std::string order;
  if (!config.has(keys.types) || config.has(keys.letters)) {
    order = config.text(
        {.name = keys.letters, .doc = "kinds of layers: M Mamba-2, * attention, - MLP, E experts", .fallback = ""});
  }
  if (!order.empty() && !config.documenting()) return order;
  for (const std::string& type : config.texts({.name = keys.types, .doc = "mamba, attention, mlp or moe, by layer"})) {
    const bool known = type == "mamba" || type == "attention" || type == "mlp" || type == "moe";
    if (!known) config.error(keys.types, "E460", fmt::format("'{}' is no kind of layer", type));
    order += type == "mamba" ? 'M' : type == "attention" ? '*' : type == "moe" ? 'E' : '-';
  }
  return order;
}

void read_predictors(ConfigMap& config, workload::ModelShape& shape) {
  shape.predictors = config.integer({.name = "num_nextn_predict_layers",
                                     .doc = "layers of multi-token prediction",
                                     .fallback = 0,
                                     .min = 0,
                                     .max = 10'000});
  if (shape.predictors == 0) return;
  shape.hybrid->predictor =
      read_letters(config, {.letters = "mtp_hybrid_override_pattern", .types = "mtp_layers_block_type"});
  const std::string problem = workload::problem_of_predictor(shape.hybrid->predictor, shape);
  if (problem.empty()) return;
  config.error("num_nextn_predict_layers", "E460", problem);
  shape.predictors = 0;
}

}  // namespace

void read_hf_granite_hybrid(ConfigMap& config, workload::ModelShape& shape) {
  read_granite_sizes(config, shape);
  read_granite_experts(config, shape);
  const std::int64_t layers = hf_size(config, "num_hidden_layers", "layers of a mixer and an MLP or experts each");
  shape.layers = 2 * layers;
  workload::MambaShape mamba;
  mamba.heads = hf_size_or(config, "mamba_n_heads", "heads of a Mamba-2 layer", 128);
  const auto size = config.integer_or(
      {.name = "mamba_d_head", .doc = "channels of a Mamba-2 head", .min = 1, .max = 1'000'000}, "auto");
  const std::int64_t expand = hf_size_or(config, "mamba_expand", "channels of a Mamba-2 layer over hidden_size", 2);
  mamba.head_size = size.value_or(std::max<std::int64_t>(1, expand * shape.hidden / mamba.heads));
  mamba.groups = hf_size_or(config, "mamba_n_groups", "groups of heads that share B and C", 1);
  mamba.state = hf_size_or(config, "mamba_d_state", "size of a channel's state", 256);
  mamba.chunk = hf_size_or(config, "mamba_chunk_size", "tokens of a chunk of the scan", 256);
  mamba.kernel = hf_size_or(config, "mamba_d_conv", "tokens of the convolution before the scan", 4);
  const std::string order = granite_order(config, shape, layers);
  if (!config.documenting()) shape.hybrid = workload::HybridShape{.order = order, .mamba = mamba};
}

void read_hf_nemotron_h(ConfigMap& config, workload::ModelShape& shape) {
  read_sizes(config, shape);
  const std::string order = read_letters(config, {.letters = "hybrid_override_pattern", .types = "layers_block_type"});
  if (order.find('E') != std::string::npos) read_hybrid_experts(config, shape);
  workload::MambaShape mamba;
  mamba.head_size = hf_size(config, "mamba_head_dim", "channels of a Mamba-2 head");
  mamba.heads = hf_size(config, "mamba_num_heads", "heads of a Mamba-2 layer");
  mamba.groups = hf_size_or(config, "n_groups", "groups of heads that share B and C", 8);
  mamba.state = hf_size_or(config, "ssm_state_size", "size of a channel's state", 128);
  mamba.chunk = hf_size_or(config, "chunk_size", "tokens of a chunk of the scan", 128);
  mamba.kernel = hf_size_or(config, "conv_kernel", "tokens of the convolution before the scan", 4);
  if (config.documenting()) return;
  if (const std::string problem = workload::problem_of_order(order, shape); !problem.empty()) {
    config.error("hybrid_override_pattern", "E460", problem);
    return;
  }
  shape.hybrid = workload::HybridShape{.order = order, .mamba = mamba};
  read_predictors(config, shape);
}

}  // namespace ringwright::configs
