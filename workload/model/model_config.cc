#include "workload/model/model_config.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "workload/model/adapter_config.h"
#include "workload/model/delta_net_config.h"
#include "workload/model/hybrid_config.h"
#include "workload/model/predictor_config.h"
#include "workload/model/sparse_config.h"

namespace ringwright::workload {
namespace {

constexpr std::array kNormalizations{Option{"rmsnorm", "root mean square only, one weight per channel"},
                                     Option{"layernorm", "mean and variance, weight and bias"}};
constexpr std::array kActivations{Option{"swiglu", "gated: SiLU(gate) * up"}, Option{"gelu", "one up GEMM, then GELU"}};
constexpr std::array kPositions{Option{"rotary", "rotates queries and keys"},
                                Option{"yarn", "rotary, scaled for longer sequences: Transformer Engine's kernel "
                                               "cannot, PyTorch's operators do (GPT-OSS); as rotary with "
                                               "multi_latent_attention"},
                                Option{"learned", "a table added to the word embedding"},
                                Option{"none", "no position embedding"}};
constexpr std::array kMasks{Option{"causal", "causal: a token attends to itself and earlier tokens"},
                            Option{"bidirectional", "bidirectional: every token attends to all (BERT)"}};
constexpr std::array kBiases{Option{"none", "no linear layer has a bias"},
                             Option{"qkv", "queries, keys and values only"},
                             Option{"attention", "queries, keys, values and the projection after attention"},
                             Option{"mlp", "MLPs and experts only"}, Option{"all", "every linear layer of the blocks"}};

void read_sizes(ConfigMap& model, ModelShape& shape) {
  shape.layers = model.integer({.name = "num_layers", .doc = "transformer layers", .min = 1, .max = 10'000});
  shape.hidden =
      model.integer({.name = "hidden_size", .doc = "width of the residual stream", .min = 1, .max = 1'000'000});
  shape.heads =
      model.integer({.name = "num_attention_heads", .doc = "attention heads (of queries)", .min = 1, .max = 10'000});
  shape.kv_heads = model.integer({.name = "num_query_groups",
                                  .doc = "key-value heads; fewer than the heads: grouped-query attention",
                                  .fallback = shape.heads,
                                  .min = 1,
                                  .max = 10'000});
  shape.head_size = model.integer({.name = "kv_channels",
                                   .doc = "size of one head; hidden_size / num_attention_heads when not given",
                                   .fallback = std::max<std::int64_t>(1, shape.hidden / shape.heads),
                                   .min = 1,
                                   .max = 10'000});
  shape.ffn = model.integer({.name = "ffn_hidden_size",
                             .doc = "width of the MLP between its two GEMMs; default 4 x hidden_size",
                             .fallback = 4 * shape.hidden,
                             .min = 1,
                             .max = 10'000'000});
  shape.vocabulary =
      model.integer({.name = "vocab_size", .doc = "tokens in the vocabulary, unpadded", .min = 1, .max = 100'000'000});
  shape.sequence =
      model.integer({.name = "seq_length", .doc = "tokens in a training sequence", .min = 1, .max = 10'000'000});
  shape.vocabulary_multiple =
      model.integer({.name = "make_vocab_size_divisible_by",
                     .doc = "the vocabulary is padded to a multiple of this times parallel.tp, as Megatron does",
                     .fallback = 128,
                     .min = 1,
                     .max = 1'000'000});
}

void read_kinds(ConfigMap& model, ModelShape& shape) {
  const std::string norm = model.choice(
      {.name = "normalization", .doc = "the norm before attention and MLP", .fallback = "rmsnorm"}, kNormalizations);
  shape.normalization = norm == "layernorm" ? Normalization::kLayerNorm : Normalization::kRmsNorm;
  const std::string activation = model.choice(
      {.name = "activation", .doc = "activation between the MLP's GEMMs", .fallback = "swiglu"}, kActivations);
  shape.activation = activation == "gelu" ? Activation::kGelu : Activation::kSwiGlu;
  const std::string positions =
      model.choice({.name = "position_embedding", .doc = "position encoding", .fallback = "rotary"}, kPositions);
  shape.positions = positions == "learned" ? Positions::kLearned
                    : positions == "none"  ? Positions::kNone
                    : positions == "yarn"  ? Positions::kYarn
                                           : Positions::kRotary;
  const std::string biases =
      model.choice({.name = "bias", .doc = "which linear layers have a bias", .fallback = "none"}, kBiases);
  const bool all = biases == "all";
  shape.biases = {.qkv = all || biases == "qkv" || biases == "attention",
                  .projection = all || biases == "attention",
                  .mlp = all || biases == "mlp"};
  const bool untied = model.boolean(
      {.name = "untie_embeddings_and_output_weights", .doc = "the output layer has its own weights", .fallback = true});
  shape.embeddings = untied ? Embeddings::kUntied : Embeddings::kTied;
  shape.query_key_norm =
      model.boolean({.name = "qk_layernorm", .doc = "a norm over each head's query and key", .fallback = false});
  shape.output_gate = model.boolean({.name = "attention_output_gate",
                                     .doc = "a sigmoid of as many more columns of the first GEMM scales attention's "
                                            "result (Qwen3-Next)",
                                     .fallback = false});
  shape.sandwich_norm = model.boolean({.name = "sandwich_norm",
                                       .doc = "a norm of the results of attention and MLP too (Gemma 2, GLM-4)",
                                       .fallback = false});
  shape.hidden_dropout =
      model.number({.name = "hidden_dropout",
                    .doc = "dropout probability after embedding, attention and MLP; only zero or non-zero matters",
                    .fallback = 0.0,
                    .min = 0.0,
                    .max = 1.0}) > 0.0;
  shape.attention_dropout =
      model.number({.name = "attention_dropout",
                    .doc = "dropout probability on attention probabilities; only zero or non-zero matters",
                    .fallback = 0.0,
                    .min = 0.0,
                    .max = 1.0}) > 0.0;
  if (shape.positions != Positions::kLearned && !model.documenting()) return;
  shape.max_positions = model.integer({.name = "max_position_embeddings",
                                       .doc = "rows of the learned position table; seq_length when not given",
                                       .fallback = shape.sequence,
                                       .min = 1,
                                       .max = 10'000'000});
}

std::int64_t size(ConfigMap& model, std::string_view name, std::string_view doc) {
  return model.integer({.name = name, .doc = doc, .min = 1, .max = 10'000'000});
}
std::int64_t count(ConfigMap& model, std::string_view name, std::string_view doc, std::int64_t fallback) {
  return model.integer({.name = name, .doc = doc, .fallback = fallback, .min = 0, .max = 10'000'000});
}

void read_mask(ConfigMap& model, ModelShape& shape) {
  const std::string mask =
      model.choice({.name = "attention_mask", .doc = "which tokens a token attends to", .fallback = "causal"}, kMasks);
  shape.masking = mask == "bidirectional" ? Masking::kBidirectional : Masking::kCausal;
  shape.window = count(model, "sliding_window", "tokens that a token attends to, itself included; 0: no window", 0);
  shape.full_every = count(model, "window_attn_skip_freq",
                           "every n-th layer attends to all tokens despite sliding_window; 0: none", 0);
  shape.attention_sinks =
      model.boolean({.name = "attention_sinks", .doc = "one learned logit per head (GPT-OSS)", .fallback = false});
  read_predictors(model, shape);
  if (model.has("window_attn_skip_freq") && shape.window == 0) {
    model.warn("window_attn_skip_freq", "W131",
               fmt::format("{} has no effect: there is no sliding_window", model.path_of("window_attn_skip_freq")));
  }
}

void read_latent(ConfigMap& model, ModelShape& shape) {
  const bool latent = model.boolean({.name = "multi_latent_attention",
                                     .doc = "keys and values are projected from a narrow latent vector (DeepSeek's "
                                            "MLA)",
                                     .fallback = false});
  if (!latent && !model.documenting()) return;
  LatentAttention sizes;
  sizes.query_rank = count(model, "q_lora_rank", "width of the queries' latent vector; 0: none", 0);
  sizes.key_value_rank = size(model, "kv_lora_rank", "width of the latent vector of keys and values");
  sizes.plain_size = size(model, "qk_head_dim", "size of a head's query and key without the rotated part");
  sizes.rotated_size = size(model, "qk_pos_emb_head_dim", "size of the rotated part of a head's query and key");
  sizes.value_size = size(model, "v_head_dim", "size of a head's value");
  if (!latent) return;
  if (shape.output_gate) {
    model.error("attention_output_gate", "E132",
                fmt::format("{} is not modelled with multi_latent_attention", model.path_of("attention_output_gate")));
    shape.output_gate = false;
  }
  shape.latent = sizes;
  shape.query_key_norm = false;  // Megatron's qk_layernorm is then the norm of the latent vectors, always there here
  shape.kv_heads = shape.heads;
  shape.head_size = key_size(shape);
  for (const std::string_view key : {"num_query_groups", "kv_channels"}) {
    if (!model.has(key)) continue;
    model.warn(key, "W131", fmt::format("{} has no effect with multi_latent_attention", model.path_of(key)));
  }
}

void check_experts(ConfigMap& model, const ModelShape& shape, ExpertShape& experts) {
  const auto refuse = [&](std::string_view key, std::string problem, std::string hint) {
    model.error(key, "E132", std::move(problem), std::move(hint));
  };
  if (experts.per_token > experts.count) {
    refuse("moe_router_topk",
           fmt::format("{} = {} is more than the {} experts", model.path_of("moe_router_topk"), experts.per_token,
                       experts.count),
           "write at most model.num_experts");
    experts.per_token = experts.count;
  }
  if (experts.dense_layers >= shape.layers) {
    refuse("first_k_dense_replace",
           fmt::format("{} = {} leaves no expert layer among {} layers", model.path_of("first_k_dense_replace"),
                       experts.dense_layers, shape.layers),
           "omit num_experts for a dense model");
    experts.dense_layers = 0;
  }
  if (experts.groups > 1 && !model.has("moe_router_group_topk")) {
    model.warn("moe_router_num_groups", "W131",
               fmt::format("{} = {} has no effect without moe_router_group_topk: a token may use the experts of all "
                           "groups",
                           model.path_of("moe_router_num_groups"), experts.groups));
  }
  if (experts.count % experts.groups != 0 || experts.group_limit > experts.groups) {
    refuse("moe_router_num_groups",
           fmt::format("{} = {} must divide the {} experts and be at least moe_router_group_topk = {}",
                       model.path_of("moe_router_num_groups"), experts.groups, experts.count, experts.group_limit),
           "write 1 for routing without groups");
    experts.groups = experts.group_limit = 1;
  }
  if (const std::int64_t reached = experts.count / experts.groups * experts.group_limit; reached < experts.per_token) {
    refuse("moe_router_group_topk",
           fmt::format("{} = {} of {} groups have {} experts, fewer than {} = {}",
                       model.path_of("moe_router_group_topk"), experts.group_limit, experts.groups, reached,
                       model.path_of("moe_router_topk"), experts.per_token),
           "let tokens use more groups");
    experts.groups = experts.group_limit = 1;
  }
}

constexpr std::string_view kClampKey = "activation_func_clamp_value";

// `without_effect`: why the clamps do not count, if so.
bool read_clamp(ConfigMap& model, std::string_view without_effect) {
  const bool clamped = model.number({.name = kClampKey,
                                     .doc = "gate and input of the experts' activation are clamped to this value by "
                                            "separate operators, as in GPT-OSS; 0: none. Only zero or non-zero "
                                            "matters",
                                     .fallback = 0.0,
                                     .min = 0.0,
                                     .max = 1e6}) > 0.0;
  if (!clamped || without_effect.empty() || model.documenting()) return clamped;
  model.warn(kClampKey, "W131", fmt::format("{} has no effect: {}", model.path_of(kClampKey), without_effect));
  return false;
}

bool read_shared_gate(ConfigMap& model, const ExpertShape& experts) {
  constexpr std::string_view kKey = "moe_shared_expert_gate";
  const bool gate = model.boolean({.name = kKey,
                                   .doc = "the shared experts' result is scaled by a learned sigmoid of the token "
                                          "(Qwen2-MoE, Qwen3-Next)",
                                   .fallback = false});
  if (!gate || experts.shared_ffn > 0 || model.documenting()) return gate;
  model.warn(kKey, "W131", fmt::format("{} has no effect: there are no shared experts", model.path_of(kKey)));
  return false;
}

// Keys of experts in a model without any: left over where it says that it has none, and else a mistake.
void refuse_expert_keys(ConfigMap& model) {
  const bool meant = model.has("num_experts");
  for (const std::string_view key : {"moe_router_topk", "moe_ffn_hidden_size", "moe_shared_expert_intermediate_size",
                                     "moe_shared_expert_gate", "first_k_dense_replace", "moe_layer_freq",
                                     "moe_latent_size", "moe_router_num_groups", "moe_router_group_topk"}) {
    if (!model.has(key)) continue;
    static_cast<void>(model.setting(key));
    if (meant) {
      model.warn(key, "W131", fmt::format("{} has no effect: model.num_experts is 0", model.path_of(key)));
    } else {
      model.error(key, "E132", fmt::format("{} needs model.num_experts, which is missing", model.path_of(key)),
                  "add model.num_experts, or leave this out: the model has no experts");
    }
  }
}

void read_experts(ConfigMap& model, ModelShape& shape) {
  const std::int64_t experts = count(model, "num_experts", "experts of an expert layer; 0: a dense model", 0);
  if (experts == 0 && !model.documenting()) {
    refuse_expert_keys(model);
    if (model.has(kClampKey)) static_cast<void>(read_clamp(model, "only the clamps of experts are modelled"));
    return;
  }
  ExpertShape sizes{.count = experts};
  sizes.per_token = size(model, "moe_router_topk", "experts per token");
  sizes.ffn = model.integer({.name = "moe_ffn_hidden_size",
                             .doc = "width of one expert; ffn_hidden_size when not given",
                             .fallback = shape.ffn,
                             .min = 1,
                             .max = 10'000'000});
  sizes.latent =
      count(model, "moe_latent_size",
            "width to which tokens are projected before they are dispatched to experts (LatentMoE); 0: none", 0);
  sizes.shared_ffn =
      count(model, "moe_shared_expert_intermediate_size", "total width of the shared experts; 0: none", 0);
  sizes.shared_gate = read_shared_gate(model, sizes);
  sizes.dense_layers = count(model, "first_k_dense_replace", "first layers with a dense MLP", 0);
  sizes.every = model.integer({.name = "moe_layer_freq",
                               .doc = "of the layers after these, every n-th has experts",
                               .fallback = 1,
                               .min = 1,
                               .max = 10'000});
  sizes.groups = model.integer({.name = "moe_router_num_groups",
                                .doc = "groups of experts, of which a token uses moe_router_group_topk",
                                .fallback = 1,
                                .min = 1,
                                .max = 10'000});
  sizes.group_limit = model.integer({.name = "moe_router_group_topk",
                                     .doc = "groups whose experts a token may use; all when not given",
                                     .fallback = sizes.groups,
                                     .min = 1,
                                     .max = 10'000});
  sizes.clamped = read_clamp(model, shape.activation == Activation::kSwiGlu ? "" : "the activation is not gated");
  if (experts == 0) return;
  check_experts(model, shape, sizes);
  shape.experts = sizes;
}

}  // namespace

void check_heads(ConfigMap& map, const HeadKeys& keys, ModelShape& shape) {
  if (map.documenting()) return;
  if (shape.heads % shape.kv_heads != 0) {
    map.error(keys.kv_heads, "E132",
              fmt::format("{} = {} does not divide the {} attention heads", map.path_of(keys.kv_heads), shape.kv_heads,
                          shape.heads));
    shape.kv_heads = shape.heads;
  }
  const bool size_given = shape.latent || (!keys.head_size.empty() && map.has(keys.head_size));
  if (size_given || keys.hidden.empty() || shape.hidden % shape.heads == 0) return;
  map.error(keys.hidden, "E132",
            fmt::format("{} = {} is not a multiple of the {} attention heads", map.path_of(keys.hidden), shape.hidden,
                        shape.heads),
            keys.head_size.empty() ? std::string()
                                   : fmt::format("or give the size of a head in {}", map.path_of(keys.head_size)));
}

// After experts, latent attention and hybrids, with which it is refused.
void read_order(ConfigMap& model, ModelShape& shape) {
  constexpr std::string_view kKey = "parallel_attention_mlp";
  constexpr std::string_view kNormsKey = "num_ln_in_parallel_attn";
  const bool parallel = model.boolean({.name = kKey,
                                       .doc = "attention and MLP read the same input and are added at once (PaLM, "
                                              "GPT-J, Falcon): with tensor parallelism one reduction a pass",
                                       .fallback = false});
  if (!parallel && !model.documenting()) {
    if (!model.has(kNormsKey)) return;
    model.warn(kNormsKey, "W131",
               fmt::format("{} has no effect without {}", model.path_of(kNormsKey), model.path_of(kKey)));
  }
  const std::int64_t norms = model.integer({.name = kNormsKey,
                                            .doc = "norms of such a layer: one for both halves (GPT-J, PaLM, "
                                                   "Falcon-7B), or one for each (GPT-NeoX, Falcon-40B)",
                                            .fallback = 1,
                                            .min = 1,
                                            .max = 2});
  if (!parallel) return;
  const std::string_view unlike = shape.hybrid           ? "hybrid_override_pattern"
                                  : shape.delta_net      ? "experimental_attention_variant"
                                  : shape.output_gate    ? "attention_output_gate"
                                  : shape.experts        ? "num_experts"
                                  : shape.latent         ? "multi_latent_attention"
                                  : shape.predictors > 0 ? "mtp_num_layers"
                                  : shape.sandwich_norm  ? "sandwich_norm"
                                                         : "";
  if (unlike.empty()) {
    shape.order = norms == 1 ? BlockOrder::kParallelOneNorm : BlockOrder::kParallelTwoNorms;
    return;
  }
  model.error(kKey, "E132",
              fmt::format("{} is of layers with attention and a dense MLP, not with {}", model.path_of(kKey),
                          model.path_of(unlike)),
              fmt::format("omit {}", model.path_of(kKey)));
}

ModelShape read_model(ConfigMap& model) {
  ModelShape shape;
  shape.name = model.text({.name = "name", .doc = "name of the model in reports", .fallback = "model"});
  read_sizes(model, shape);
  read_kinds(model, shape);
  read_mask(model, shape);
  read_latent(model, shape);
  read_experts(model, shape);
  read_adapters(model, shape);
  read_hybrid(model, shape);
  read_delta_net(model, shape);
  read_sparse(model, shape);
  read_order(model, shape);
  check_heads(model,
              {.hidden = "hidden_size",
               .heads = "num_attention_heads",
               .kv_heads = "num_query_groups",
               .head_size = "kv_channels"},
              shape);
  if (shape.positions == Positions::kLearned && shape.max_positions < shape.sequence) {
    model.error("seq_length", "E132",
                fmt::format("{} = {} is longer than the learned position table of {} rows", model.path_of("seq_length"),
                            shape.sequence, shape.max_positions),
                fmt::format("set {} to at least {}", model.path_of("max_position_embeddings"), shape.sequence));
  }
  return shape;
}

}  // namespace ringwright::workload
