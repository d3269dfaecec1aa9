// Sources: megatron/core/transformer/transformer_config.py (__post_init__), and Megatron-Bridge's
// models/gpt_provider.py and training/setup.py.
#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "configs/scenario/imports/hydra/core_rules.h"

namespace ringwright::configs {
namespace {

std::string function_name(const HydraKey& key) {
  const std::string text = value_of(key).word.text;
  return text.substr(text.rfind('.') + 1);
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

void set_activation(RunSections& run) {
  FlagList& flags = run.flags();
  const HydraKey gated = run.key("model", "gated_linear_unit");
  const HydraKey function = run.key("model", "activation_func");
  const std::string name = function_name(function);
  const bool is_gelu = is_one_of(name, {"gelu", "quick_gelu", "fast_gelu", "gelu_tanh"});
  if (flags.is_on(gated)) {
    flags.turn_on("swiglu", gated);
    if (name.empty() || is_gelu || is_one_of(name, {"silu", "swish"})) return;
    return flags.warn(function, "W136",
                      fmt::format("{} {} is not modelled: the MLP is modelled with SwiGLU", function.path, name));
  }
  if (name.empty() || is_gelu) return;
  if (name == "squared_relu") return flags.turn_on("squared-relu", function);
  flags.warn(function, "W136",
             fmt::format("{} {} is not modelled: the MLP is modelled with GELU", function.path, name));
}

// The model's vocabulary comes before the tokenizer's, and is padded only on request.
void set_vocabulary(RunSections& run) {
  FlagList& flags = run.flags();
  const HydraKey own = run.key("model", "vocab_size");
  const HydraKey vocabulary = is_given(own) ? own : run.key("tokenizer", "vocab_size");
  if (!is_given(vocabulary)) return;
  flags.give("vocab-size", vocabulary);
  const HydraKey padded = run.key("model", "should_pad_vocab");
  if (flags.is_on(padded)) {
    flags.give("make-vocab-size-divisible-by", run.key("model", "make_vocab_size_divisible_by"));
  } else if (padded.node != nullptr) {
    flags.give("make-vocab-size-divisible-by", padded, "1");
  } else if (run.is_whole()) {
    flags.assume("make-vocab-size-divisible-by", "1");
  }
}

}  // namespace

// Attention with compressed keys has no groups, and its heads have sizes of their own.
void apply_core_heads(RunSections& run) {
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
void apply_core_width(RunSections& run) {
  FlagList& flags = run.flags();
  const HydraKey width = run.key("model", "ffn_hidden_size");
  if (is_given(width)) return flags.give("ffn-hidden-size", width);
  const auto hidden = flags.read_number(run.key("model", "hidden_size"));
  if (hidden) flags.assume("ffn-hidden-size", std::to_string(4 * *hidden));
}

// The scenario's model may have no table of positions: then nothing reads its length.
void apply_core_positions(RunSections& run) {
  const bool is_known = run.is_whole() || is_given(run.key("model", "position_embedding_type"));
  if (is_known) run.flags().give("max-position-embeddings", run.key("model", "max_position_embeddings"));
}

// Their sizes are given also where they are Megatron-Core's defaults, for models that have no such layers.
void apply_core_kinds_of_layers(RunSections& run) {
  FlagList& flags = run.flags();
  const auto has = [&](std::string_view name) { return is_given(run.key("model", name)); };
  const auto give = [&](std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) flags.give(flag_of({.name = name}), run.key("model", name));
  };
  if (has("hybrid_override_pattern") || has("hybrid_layer_pattern")) {
    give({"mamba_state_dim", "mamba_head_dim", "mamba_num_groups", "mamba_num_heads"});
  }
  if (has("experimental_attention_variant")) {
    const HydraKey often = run.key("model", "linear_attention_freq");
    if (is_given(often)) flags.give("linear-attention-freq", often, value_of(often).word.text);
  }
  if (has("window_size")) {
    const HydraKey window = run.key("model", "window_size");
    flags.give("window-size", window, value_of(window).word.text);
    give({"window_attn_skip_freq"});
  }
  if (!has("num_moe_experts")) return;
  const HydraKey pattern = run.key("model", "moe_layer_freq");
  if (is_given(pattern)) flags.give("moe-layer-freq", pattern, value_of(pattern).word.text);
  if (value_of(run.key("model", "moe_token_dispatcher_type")).word.text == "flex") {
    give({"moe_flex_dispatcher_backend"});
  }
}

void apply_core_lengths(RunSections& run) {
  FlagList& flags = run.flags();
  const HydraKey own = run.key("model", "seq_length");
  for (const std::string_view name : {"sequence_length", "seq_length"}) {
    const HydraKey samples = run.key("dataset", name);
    const auto tokens = flags.read_number(samples);
    if (!tokens) continue;
    if (!is_given(own)) {
      flags.give("seq-length", samples);
    } else if (flags.read_number(own) != tokens) {
      flags.error(samples,
                  fmt::format("{} is {}, but {} is {}", samples.path, *tokens, own.path, value_of(own).word.text),
                  "the model and its samples have one length");
    }
  }
}

void apply_core_model(RunSections& run) {
  set_activation(run);
  apply_core_heads(run);
  apply_core_width(run);
  apply_core_positions(run);
  set_vocabulary(run);
  apply_core_kinds_of_layers(run);
  apply_core_lengths(run);
  if (!run.is_whole()) return;
  if (run.key("model", "cross_entropy_loss_fusion").node == nullptr)
    run.flags().assume("cross-entropy-loss-fusion", "");
  if (run.key("model", "transformer_impl").node == nullptr) {
    run.flags().assume("transformer-impl", "transformer_engine");
  }
}

}  // namespace ringwright::configs
