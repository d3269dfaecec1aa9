#include "configs/scenario/imports/huggingface/experts.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "configs/scenario/imports/huggingface/keys.h"
#include "configs/scenario/imports/huggingface/local_experts.h"

namespace ringwright::configs {
namespace {

constexpr std::array<std::string_view, 9> kFamilies{"qwen2_moe",   "qwen3_moe",    "deepseek_v2",
                                                    "deepseek_v3", "deepseek_v32", "glm_moe_dsa",
                                                    "kimi_k2",     "glm4_moe",     "gpt_oss"};

// Layers of the list have a dense MLP; only a list of the first layers is supported.
void read_dense_layers(ConfigMap& config, workload::ExpertShape& experts) {
  std::vector<std::int64_t> dense = config.integers({.name = "mlp_only_layers", .doc = "layers without experts"});
  std::ranges::sort(dense);
  for (std::size_t place = 0; place < dense.size(); ++place) {
    if (dense[place] == static_cast<std::int64_t>(place)) continue;
    config.error("mlp_only_layers", "E133", "mlp_only_layers lists layers that are not the first of the model",
                 "describe the model with explicit sizes");
    return;
  }
  experts.dense_layers = static_cast<std::int64_t>(dense.size());
}

void read_qwen(ConfigMap& config, std::string_view type, workload::ModelShape& shape) {
  const bool third = type == "qwen3_moe";
  read_hf_decoder(config, {.head_size = third ? 128 : 0}, shape);
  shape.query_key_norm = third;
  if (third) {
    shape.biases = hf_attention_biases(config, false);
  } else {
    shape.biases.qkv =
        config.boolean({.name = "qkv_bias", .doc = "biases of queries, keys and values", .fallback = true});
  }
  read_hf_late_window(config, shape);
  workload::ExpertShape experts{.count = hf_size(config, "num_experts", "experts of a layer"),
                                .per_token = hf_size(config, "num_experts_per_tok", "experts per token")};
  experts.ffn = hf_size(config, "moe_intermediate_size", "width of one expert");
  if (!third) {
    experts.shared_ffn = hf_size(config, "shared_expert_intermediate_size", "width of the shared expert");
    experts.shared_gate = true;
  }
  experts.every = hf_size_or(config, "decoder_sparse_step", "every n-th layer has experts", 1);
  read_dense_layers(config, experts);
  shape.experts = experts;
}

// Experts, shared ones among them, and predictors by the names of DeepSeek, which others use as well.
void read_deepseek_experts(ConfigMap& config, workload::ModelShape& shape) {
  workload::ExpertShape experts{.count = hf_size(config, "n_routed_experts", "experts of a layer"),
                                .per_token = hf_size(config, "num_experts_per_tok", "experts per token")};
  experts.ffn = hf_size(config, "moe_intermediate_size", "width of one expert");
  const auto shared = config.integer_or(
      {.name = "n_shared_experts", .doc = "shared experts, used by every token", .min = 0, .max = 10'000}, "null");
  experts.shared_ffn = experts.ffn * shared.value_or(0);
  experts.dense_layers =
      config.integer({.name = "first_k_dense_replace", .doc = "first layers with a dense MLP", .min = 0});
  experts.every = hf_size_or(config, "moe_layer_freq", "every n-th layer has experts", 1);
  experts.groups = hf_size_or(config, "n_group", "groups of experts", 1);
  experts.group_limit = hf_size_or(config, "topk_group", "groups of experts per token", experts.groups);
  shape.experts = experts;
  shape.predictors = config.integer({.name = "num_nextn_predict_layers",
                                     .doc = "layers of multi-token prediction",
                                     .fallback = 0,
                                     .min = 0,
                                     .max = 10'000});
}

}  // namespace

void read_hf_latent_attention(ConfigMap& config, workload::ModelShape& shape) {
  workload::LatentAttention latent;
  const auto rank = config.integer_or(
      {.name = "q_lora_rank", .doc = "width of the queries' latent vector", .min = 1, .max = 1'000'000}, "null");
  latent.query_rank = rank.value_or(0);
  latent.key_value_rank = hf_size(config, "kv_lora_rank", "width of the latent vector of keys and values");
  latent.plain_size = hf_size(config, "qk_nope_head_dim", "size of a head without the rotated part");
  latent.rotated_size = hf_size(config, "qk_rope_head_dim", "size of the rotated part of a head");
  latent.value_size = hf_size(config, "v_head_dim", "size of a head's value");
  shape.latent = latent;
  read_hf_decoder(config, {}, shape);
  if (hf_attention_biases(config, false).qkv) {
    config.warn("attention_bias", "W134", "biases of latent attention are not modelled: none are counted");
  }
  shape.kv_heads = shape.heads;
  shape.head_size = key_size(shape);
}

namespace {

void read_deepseek(ConfigMap& config, workload::ModelShape& shape) {
  read_hf_latent_attention(config, shape);
  read_deepseek_experts(config, shape);
}

// DeepSeek-V3.2 and GLM-5: an indexer in every layer. GLM-5.2 has it in some layers, whose choice others share. The
// indexer's loss is training's and not in the file.
void read_sparse_deepseek(ConfigMap& config, workload::ModelShape& shape) {
  read_deepseek(config, shape);
  workload::SparseIndexer indexer;
  indexer.heads = hf_size(config, "index_n_heads", "heads of the indexer");
  indexer.head_size = hf_size(config, "index_head_dim", "size of an index head");
  indexer.chosen = hf_size(config, "index_topk", "tokens that a token attends to");
  if (hf_size_or(config, "index_topk_freq", "layers that share an indexer's choice", 1) > 1) {
    config.error("index_topk_freq", "E464", "layers that share the choice of an indexer are not modelled",
                 "describe the model with explicit sizes, with an indexer in every layer");
  }
  config.assume("indexer_loss", "none", "config.json does not state it; dsa_indexer_loss_coeff of explicit sizes does");
  if (!config.documenting()) shape.indexer = indexer;
}

// GLM-4.5: DeepSeek's experts with grouped queries; biases on queries, keys and values alone (modeling_glm4_moe.py).
void read_glm(ConfigMap& config, workload::ModelShape& shape) {
  read_hf_decoder(config, {.head_size = 128}, shape);
  const bool biases =
      config.boolean({.name = "attention_bias", .doc = "biases of queries, keys and values", .fallback = false});
  shape.biases = biases ? workload::kQkvBiases : workload::kNoBiases;
  shape.query_key_norm =
      config.boolean({.name = "use_qk_norm", .doc = "a norm over each head's query and key", .fallback = false});
  read_deepseek_experts(config, shape);
}

void read_gpt_oss(ConfigMap& config, workload::ModelShape& shape) {
  read_hf_decoder(config, {.head_size = 64, .yarn = true}, shape);
  shape.biases = hf_attention_biases(config, true);
  shape.biases.mlp = true;
  shape.attention_sinks = true;
  const bool spelled = config.has("num_experts_per_tok");
  workload::ExpertShape experts{
      .count = hf_size(config, "num_local_experts", "experts of a layer"),
      .per_token = hf_size(config, spelled ? "num_experts_per_tok" : "experts_per_token", "experts per token")};
  experts.ffn = shape.ffn;
  experts.clamped = true;
  shape.experts = experts;
  read_hf_window_pattern(config, 128, 2, shape);
}

}  // namespace

void check_hf_choice(ConfigMap& config, workload::ModelShape& shape) {
  workload::ExpertShape& experts = *shape.experts;
  if (config.any_errors()) {
    shape.experts = workload::ExpertShape();  // harmless
    return;
  }
  if (experts.per_token > experts.count) {
    config.error("num_experts_per_tok", "E132",
                 fmt::format("a token uses {} experts, but there are {}", experts.per_token, experts.count));
    experts.per_token = experts.count;
  }
  if (experts.dense_layers < shape.layers) return;
  config.error("first_k_dense_replace", "E132",
               fmt::format("{} dense layers leave none of {} to the experts", experts.dense_layers, shape.layers));
  experts.dense_layers = 0;
}

void read_hf_qwen_experts(ConfigMap& config, bool some_dense, workload::ModelShape& shape) {
  workload::ExpertShape experts{.count = hf_size(config, "num_experts", "experts of a layer"),
                                .per_token = hf_size(config, "num_experts_per_tok", "experts per token")};
  experts.ffn = hf_size(config, "moe_intermediate_size", "width of one expert");
  experts.shared_ffn = hf_size(config, "shared_expert_intermediate_size", "width of the shared expert");
  experts.shared_gate = true;
  if (some_dense) {
    experts.every = hf_size_or(config, "decoder_sparse_step", "every n-th layer has experts", 1);
    read_dense_layers(config, experts);
  }
  shape.experts = experts;
  check_hf_choice(config, shape);
}

bool is_hf_expert_family(std::string_view type) {
  return has_hf_local_experts(type) || std::ranges::find(kFamilies, type) != kFamilies.end();
}

void read_hf_expert_family(ConfigMap& config, std::string_view type, workload::ModelShape& shape) {
  if (has_hf_local_experts(type)) read_hf_local_experts(config, type, shape);
  if (type == "qwen2_moe" || type == "qwen3_moe") read_qwen(config, type, shape);
  if (type == "deepseek_v2" || type == "deepseek_v3" || type == "kimi_k2") read_deepseek(config, shape);
  if (type == "deepseek_v32" || type == "glm_moe_dsa") read_sparse_deepseek(config, shape);
  if (type == "glm4_moe") read_glm(config, shape);
  if (type == "gpt_oss") read_gpt_oss(config, shape);
  check_hf_choice(config, shape);
}

}  // namespace ringwright::configs
