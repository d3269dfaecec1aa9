// Sources: megatron/core/transformer/transformer_config.py (__post_init__), and Megatron-Bridge's
// models/gpt_provider.py and training/setup.py.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "configs/scenario/imports/hydra/bridge_run.h"

namespace ringwright::configs {
namespace {

std::string function_name(const HydraKey& key) {
  const std::string text = value_of(key).word.text;
  return text.substr(text.rfind('.') + 1);
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

void set_activation(BridgeRun& run) {
  FlagList& flags = run.flags();
  const HydraKey gated = run.key("model", "gated_linear_unit");
  const HydraKey function = run.key("model", "activation_func");
  const std::string name = function_name(function);
  if (flags.is_on(gated)) {
    flags.turn_on("swiglu", gated);
    if (name.empty() || is_one_of(name, {"silu", "swish", "gelu", "quick_gelu", "fast_gelu", "gelu_tanh"})) return;
    return flags.warn(function, "W136",
                      fmt::format("{} {} is not modelled: the MLP is modelled with SwiGLU", function.path, name));
  }
  if (name.empty() || is_one_of(name, {"gelu", "quick_gelu", "fast_gelu", "gelu_tanh"})) return;
  if (name == "squared_relu") return flags.turn_on("squared-relu", function);
  flags.warn(function, "W136",
             fmt::format("{} {} is not modelled: the MLP is modelled with GELU", function.path, name));
}

// Attention with compressed keys has no groups, and its heads have sizes of their own.
void set_heads(BridgeRun& run) {
  FlagList& flags = run.flags();
  if (flags.is_on(run.key("model", "multi_latent_attention"))) return;
  flags.give("kv-channels", run.key("model", "kv_channels"));
  const HydraKey groups = run.key("model", "num_query_groups");
  const auto number = flags.read_number(groups);
  if (!number || number == flags.read_number(run.key("model", "num_attention_heads"))) return;
  flags.turn_on("group-query-attention", groups);
  flags.give("num-query-groups", groups);
}

// 4h also where the MLP is gated.
void set_width(BridgeRun& run) {
  FlagList& flags = run.flags();
  const HydraKey width = run.key("model", "ffn_hidden_size");
  if (value_of(width).kind != HydraKind::kNothing) return flags.give("ffn-hidden-size", width);
  const auto hidden = flags.read_number(run.key("model", "hidden_size"));
  if (hidden) flags.assume("ffn-hidden-size", std::to_string(4 * *hidden));
}

// The model's vocabulary comes before the tokenizer's, and is padded only on request.
void set_vocabulary(BridgeRun& run) {
  FlagList& flags = run.flags();
  const HydraKey own = run.key("model", "vocab_size");
  const HydraKey vocabulary = value_of(own).kind == HydraKind::kNothing ? run.key("tokenizer", "vocab_size") : own;
  flags.give("vocab-size", vocabulary);
  if (value_of(vocabulary).kind == HydraKind::kNothing) return;
  const HydraKey padded = run.key("model", "should_pad_vocab");
  if (flags.is_on(padded)) {
    flags.give("make-vocab-size-divisible-by", run.key("model", "make_vocab_size_divisible_by"));
  } else if (padded.node != nullptr) {
    flags.give("make-vocab-size-divisible-by", padded, "1");
  } else if (run.is_whole()) {
    flags.assume("make-vocab-size-divisible-by", "1");
  }
}

// Given also where it is Megatron-Core's default, for models that have no such layers.
void set_kinds_of_layers(BridgeRun& run) {
  FlagList& flags = run.flags();
  const auto given = [&](std::string_view name) {
    return value_of(run.key("model", name)).kind != HydraKind::kNothing;
  };
  const auto give = [&](std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) {
      flags.give(flag_of({.name = name}), run.key("model", name));
    }
  };
  if (given("hybrid_override_pattern") || given("hybrid_layer_pattern")) {
    give({"mamba_state_dim", "mamba_head_dim", "mamba_num_groups", "mamba_num_heads"});
  }
  if (given("experimental_attention_variant")) give({"linear_attention_freq"});
  if (given("window_size")) {
    const HydraKey window = run.key("model", "window_size");
    flags.give("window-size", window, value_of(window).word.text);
    give({"window_attn_skip_freq"});
  }
  if (given("num_moe_experts") && given("moe_layer_freq")) {
    const HydraKey pattern = run.key("model", "moe_layer_freq");
    flags.give("moe-layer-freq", pattern, value_of(pattern).word.text);
  }
  if (given("num_moe_experts") && value_of(run.key("model", "moe_token_dispatcher_type")).word.text == "flex") {
    give({"moe_flex_dispatcher_backend"});
  }
}

void set_lengths(BridgeRun& run) {
  FlagList& flags = run.flags();
  const HydraKey own = run.key("model", "seq_length");
  for (const std::string_view name : {"sequence_length", "seq_length"}) {
    const HydraKey samples = run.key("dataset", name);
    const auto tokens = flags.read_number(samples);
    if (!tokens) continue;
    if (value_of(own).kind == HydraKind::kNothing) {
      flags.give("seq-length", samples);
    } else if (flags.read_number(own) != tokens) {
      flags.error(samples,
                  fmt::format("{} is {}, but {} is {}", samples.path, *tokens, own.path, value_of(own).word.text),
                  "Megatron-Bridge refuses different lengths");
    }
  }
}

}  // namespace

void apply_bridge_model(BridgeRun& run) {
  set_activation(run);
  set_heads(run);
  set_width(run);
  set_vocabulary(run);
  set_kinds_of_layers(run);
  set_lengths(run);
  if (!run.is_whole()) return;
  if (run.key("model", "cross_entropy_loss_fusion").node == nullptr)
    run.flags().assume("cross-entropy-loss-fusion", "");
  if (run.key("model", "transformer_impl").node == nullptr) {
    run.flags().assume("transformer-impl", "transformer_engine");
  }
}

}  // namespace ringwright::configs
