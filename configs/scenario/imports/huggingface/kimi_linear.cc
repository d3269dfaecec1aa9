#include "configs/scenario/imports/huggingface/kimi_linear.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "configs/scenario/imports/huggingface/experts.h"
#include "configs/scenario/imports/huggingface/keys.h"

namespace ringwright::configs {
namespace {

// Layers of one kind, counted from 1.
std::vector<std::int64_t> layers_of(ConfigMap& attention, std::string_view name, std::string_view doc) {
  std::vector<std::int64_t> layers = attention.integers({.name = name, .doc = doc, .min = 1, .max = 10'000});
  std::ranges::sort(layers);
  return layers;
}

// modeling_kimi.py: as many heads of values as of keys; decays and gates by two GEMMs with a head's size in between.
workload::DeltaNetShape read_kimi_delta(ConfigMap& attention) {
  workload::DeltaNetShape net;
  net.key_heads = net.value_heads = hf_size(attention, "num_heads", "heads of Kimi Delta Attention");
  net.key_size = net.value_size = hf_size(attention, "head_dim", "size of such a head");
  net.kernel = hf_size_or(attention, "short_conv_kernel_size", "tokens of the convolution before the delta rule", 4);
  const bool full = attention.boolean(
      {.name = "use_full_rank_gate", .doc = "output gates by one GEMM instead of two narrow ones", .fallback = false});
  net.channels = workload::ChannelDecay{.decay_rank = net.key_size, .gate_rank = full ? 0 : net.key_size};
  return net;
}

// Each layer is in one of both lists.
void place_kimi_layers(ConfigMap& attention, const workload::ModelShape& shape, workload::DeltaNetShape& net) {
  const auto full = layers_of(attention, "full_attn_layers", "layers with latent attention, counted from 1");
  std::vector<std::int64_t> all = layers_of(attention, "kda_layers", "layers with Kimi Delta Attention");
  all.insert(all.end(), full.begin(), full.end());
  std::ranges::sort(all);
  bool each_once = std::ssize(all) == shape.layers;
  for (std::int64_t layer = 0; each_once && layer < shape.layers; ++layer) {
    each_once = all[static_cast<std::size_t>(layer)] == layer + 1;
  }
  if (!each_once) {
    attention.error(
        "full_attn_layers", "E460",
        fmt::format("full_attn_layers and kda_layers do not list each of the {} layers once", shape.layers));
  } else if (full.empty()) {
    attention.error("full_attn_layers", "E133", "no layer has attention",
                    "describe the model with explicit sizes (model.hybrid_override_pattern: G)");
  }
  for (const std::int64_t layer : full) net.full_layers.push_back(layer - 1);
}

workload::ExpertShape read_kimi_experts(ConfigMap& config) {
  workload::ExpertShape experts{.count = hf_size(config, "num_experts", "experts of a layer"),
                                .per_token = hf_size(config, "num_experts_per_token", "experts per token")};
  experts.ffn = hf_size(config, "moe_intermediate_size", "width of one expert");
  experts.shared_ffn = experts.ffn * config.integer({.name = "num_shared_experts",
                                                     .doc = "shared experts, used by every token",
                                                     .fallback = 0,
                                                     .min = 0,
                                                     .max = 10'000});
  experts.dense_layers = config.integer(
      {.name = "first_k_dense_replace", .doc = "first layers with a dense MLP", .fallback = 0, .min = 0});
  experts.every = hf_size_or(config, "moe_layer_freq", "every n-th layer has experts", 1);
  experts.groups = hf_size_or(config, "num_expert_group", "groups of experts", 1);
  experts.group_limit = hf_size_or(config, "topk_group", "groups of experts per token", experts.groups);
  return experts;
}

}  // namespace

void read_hf_kimi_linear(ConfigMap& config, workload::ModelShape& shape) {
  read_hf_latent_attention(config, shape);
  if (config.has("model_max_length")) {
    shape.max_positions = hf_size(config, "model_max_length", "longest sequence of the model");
  }
  const bool rotates =
      !config.boolean({.name = "mla_use_nope", .doc = "latent attention without rotary embedding", .fallback = false});
  shape.positions = rotates ? workload::Positions::kRotary : workload::Positions::kNone;
  if (config.boolean({.name = "mla_use_output_gate", .doc = "an output gate of latent attention", .fallback = false})) {
    config.error("mla_use_output_gate", "E133", "an output gate of latent attention is not modelled");
  }
  shape.experts = read_kimi_experts(config);
  check_hf_choice(config, shape);
  shape.predictors = config.integer({.name = "num_nextn_predict_layers",
                                     .doc = "layers of multi-token prediction",
                                     .fallback = 0,
                                     .min = 0,
                                     .max = 10'000});
  ConfigMap attention = config.map("linear_attn_config", "Kimi Delta Attention, and which layers have it");
  workload::DeltaNetShape net = read_kimi_delta(attention);
  place_kimi_layers(attention, shape, net);
  attention.ignore_rest("not needed to cost a training step");
  if (!config.documenting() && !config.any_errors() && !attention.any_errors()) shape.delta_net = net;
}

}  // namespace ringwright::configs
