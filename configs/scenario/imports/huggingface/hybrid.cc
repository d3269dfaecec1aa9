#include "configs/scenario/imports/huggingface/hybrid.h"

#include <string>

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
  const bool tied = hf_flag_or(config, "tie_word_embeddings", "the output layer uses the embedding's weights", false);
  shape.embeddings = tied ? workload::Embeddings::kTied : workload::Embeddings::kUntied;
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
  if (config.has("moe_latent_size") &&
      config.integer_or({.name = "moe_latent_size", .doc = "width of a latent space of the experts"}, "null")) {
    config.error("moe_latent_size", "E461", "experts in a latent space are not simulated");
  }
  if (experts.per_token > experts.count) {
    config.error("num_experts_per_tok", "E132",
                 fmt::format("a token uses {} experts, but there are {}", experts.per_token, experts.count));
    experts.per_token = experts.count;
  }
  shape.experts = experts;
}

}  // namespace

void read_hf_nemotron_h(ConfigMap& config, workload::ModelShape& shape) {
  read_sizes(config, shape);
  const std::string order = config.text(
      {.name = "hybrid_override_pattern", .doc = "kinds of layers: M Mamba-2, * attention, - MLP, E experts"});
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
}

}  // namespace ringwright::configs
