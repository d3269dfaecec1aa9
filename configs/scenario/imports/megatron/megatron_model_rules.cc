#include "configs/scenario/imports/megatron/megatron_model_rules.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace ringwright::configs {
namespace {

void set_kinds(const MegatronArguments& arguments, MegatronTree& tree) {
  if (arguments.has("swiglu")) {
    tree.set("model.activation", arguments.flag("swiglu").at, "swiglu");
  } else {
    tree.assume("model.activation", "gelu");
  }
  if (const auto norm = arguments.value("normalization")) {
    tree.set("model.normalization", *norm, norm->text == "RMSNorm" ? "rmsnorm" : "layernorm");
  } else {
    tree.assume("model.normalization", "layernorm");
  }
  if (arguments.has("untie-embeddings-and-output-weights")) {
    tree.set("model.untie_embeddings_and_output_weights", arguments.flag("untie-embeddings-and-output-weights").at,
             "true");
  } else {
    tree.assume("model.untie_embeddings_and_output_weights", "false");
  }
  for (const auto& [flag, key] : {std::pair{"hidden-dropout", "model.hidden_dropout"},
                                  std::pair{"attention-dropout", "model.attention_dropout"}}) {
    if (const auto word = arguments.value(flag)) {
      tree.set(key, *word);
    } else {
      tree.assume(key, "0.1");
    }
  }
}

void set_biases(const MegatronArguments& arguments, MegatronTree& tree) {
  const bool logged = arguments.spelling() == MegatronSpelling::kArguments;
  const bool none = arguments.has("disable-bias-linear") || (logged && !arguments.has("add-bias-linear"));
  if (!none) return tree.assume("model.bias", "all");
  const bool qkv = arguments.has("add-qkv-bias");
  const std::string_view said = qkv                                    ? "add-qkv-bias"
                                : arguments.has("disable-bias-linear") ? "disable-bias-linear"
                                                                       : "add-bias-linear";
  if (!arguments.all().contains(said)) return tree.assume("model.bias", "none");
  tree.set("model.bias", arguments.flag(said).at, qkv ? "qkv" : "none");
}

// Without a rotary position embedding Megatron turns its fusion off by itself, as a log shows.
void set_rotation(const MegatronArguments& arguments, bool rotates, MegatronTree& tree) {
  const bool by_hand =
      arguments.spelling() == MegatronSpelling::kShell || arguments.spelling() == MegatronSpelling::kTestCase;
  if (!arguments.has("no-rope-fusion") || !(rotates || by_hand)) return;
  tree.set("training.apply_rope_fusion", arguments.flag("no-rope-fusion").at, "false");
}

void set_positions(const MegatronArguments& arguments, MegatronTree& tree) {
  std::string_view positions = "learned";
  if (const auto type = arguments.value("position-embedding-type")) {
    const bool ours = type->text == "none" || type->text == "yarn";
    positions = type->text == "learned_absolute" ? "learned" : ours ? std::string_view(type->text) : "rotary";
    tree.set("model.position_embedding", *type, std::string(positions));
  } else if (arguments.has("use-rotary-position-embeddings")) {
    positions = "rotary";
    tree.set("model.position_embedding", arguments.flag("use-rotary-position-embeddings").at, "rotary");
  } else if (arguments.has("no-position-embedding")) {  // only what position-embedding-type sets
    positions = "none";
    tree.set("model.position_embedding", arguments.flag("no-position-embedding").at, "none");
  } else {
    tree.assume("model.position_embedding", "learned");
  }
  set_rotation(arguments, positions == "rotary" || positions == "yarn", tree);
  if (positions == "learned" && arguments.number("max-position-embeddings")) {
    tree.set("model.max_position_embeddings", *arguments.value("max-position-embeddings"));
  }
}

void set_attention(const MegatronArguments& arguments, MegatronTree& tree) {
  const auto groups = arguments.value("num-query-groups");
  if (groups && arguments.has("group-query-attention")) {
    tree.set("model.num_query_groups", *groups);
  } else if (arguments.has("group-query-attention")) {
    tree.assume("model.num_query_groups", "1");
  }
  const auto softmax = arguments.value("softmax-type");
  if (softmax && softmax->text == "learnable") tree.set("model.attention_sinks", *softmax, "true");
  if (const auto window = arguments.value("window-size")) {
    const auto begin = window->text.find_first_of("0123456789");
    const auto end = window->text.find_first_not_of("0123456789", begin);
    const auto left = begin == std::string::npos ? std::nullopt : parse_whole(window->text.substr(begin, end - begin));
    if (left && *left < 1'000'000'000'000) {
      tree.set("model.sliding_window", *window, std::to_string(*left + 1));  // so many earlier tokens, and itself
    } else {
      arguments.error(*window, fmt::format("--window-size is '{}'", window->text), "write it as 127,0");
    }
  }
  if (const auto skip = arguments.value("window-attn-skip-freq")) tree.set("model.window_attn_skip_freq", *skip);
}

void set_latent(const MegatronArguments& arguments, MegatronTree& tree) {
  if (!arguments.has("multi-latent-attention")) return;
  tree.set("model.multi_latent_attention", arguments.flag("multi-latent-attention").at, "true");
  struct Size {
    std::string_view flag, key, fallback;  // of MLATransformerConfig
  };
  for (const Size& size :
       {Size{"q-lora-rank", "model.q_lora_rank", "0"}, Size{"kv-lora-rank", "model.kv_lora_rank", "32"},
        Size{"qk-head-dim", "model.qk_head_dim", "128"}, Size{"qk-pos-emb-head-dim", "model.qk_pos_emb_head_dim", "64"},
        Size{"v-head-dim", "model.v_head_dim", "128"}}) {
    if (const auto word = arguments.value(size.flag)) {
      tree.set(size.key, *word);
    } else {
      tree.assume(size.key, std::string(size.fallback));
    }
  }
}

// Of "*3" behind the bracket at `at`, which then is its end; 1 without, 0 if it is written otherwise.
std::int64_t times_behind(std::string_view text, std::size_t& at) {
  if (at + 1 >= text.size() || text[at + 1] != '*') return 1;
  const auto end = std::min(text.find_first_not_of("0123456789", at + 2), text.size());
  const std::int64_t times = parse_whole(text.substr(at + 2, end - at - 2)).value_or(0);
  at = end - 1;
  return times <= 10'000 ? times : 0;
}

// "([0]*3+[1]*58)": three layers without experts, then 58 with; "([1]*3+[0])*12": twelve times four layers. Empty when
// it is written otherwise.
std::vector<int> layer_pattern(std::string_view text) {
  std::vector<int> pattern;
  std::size_t begin = 0;  // of the bracket, round or square
  std::size_t group = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '[') begin = pattern.size();
    if (c == '(') group = pattern.size();
    if (c == '0' || c == '1') pattern.push_back(c - '0');
    if (c == ']' || c == ')') {
      const std::int64_t times = times_behind(text, i);
      const std::vector<int> repeated(pattern.begin() + static_cast<std::ptrdiff_t>(c == ']' ? begin : group),
                                      pattern.end());
      if (times < 1 || times * std::ssize(repeated) > 10'000) return {};
      for (std::int64_t n = 1; n < times; ++n) pattern.insert(pattern.end(), repeated.begin(), repeated.end());
    } else if (std::string_view("([01,+ ").find(c) == std::string_view::npos) {
      return {};
    }
  }
  return pattern;
}

void set_expert_layers(const MegatronArguments& arguments, MegatronTree& tree) {
  const auto word = arguments.value("moe-layer-freq");
  if (!word) return;
  if (parse_whole(word->text)) return tree.set("model.moe_layer_freq", *word);
  const std::vector<int> pattern = layer_pattern(word->text);
  const auto first = static_cast<std::size_t>(std::ranges::find(pattern, 1) - pattern.begin());
  const bool all_after = std::ranges::all_of(pattern.begin() + static_cast<std::ptrdiff_t>(first), pattern.end(),
                                             [](int has) { return has == 1; });
  if (!pattern.empty() && first < pattern.size() && all_after) {
    return tree.set("model.first_k_dense_replace", *word, std::to_string(first));
  }
  arguments.error(
      *word, fmt::format("--moe-layer-freq is '{}': layers with experts in this order cannot be described", word->text),
      "a number, or layers without experts followed by layers with: ([0]*3+[1]*58)");
}

// A bias of the experts balances as well (DeepSeek-V3).
void check_balance(const MegatronArguments& arguments) {
  const auto type = arguments.value("moe-router-load-balancing-type");
  const bool balanced =
      arguments.has("moe-router-force-load-balancing") || arguments.has("moe-router-enable-expert-bias");
  if (!type || type->text != "none" || balanced) return;
  arguments.warn(*type, "W136",
                 "--moe-router-load-balancing-type is none, but equal loads of experts are modelled; "
                 "parallel.moe_router_load states others");
}

void set_experts(const MegatronArguments& arguments, MegatronTree& tree) {
  const auto experts = arguments.number("num-experts");
  if (!experts) return;
  tree.set("model.num_experts", *arguments.value("num-experts"));
  if (!arguments.has("moe-router-topk")) tree.assume("model.moe_router_topk", "2");
  for (const auto& [flag, key] :
       {std::pair{"moe-router-topk", "model.moe_router_topk"},
        std::pair{"moe-ffn-hidden-size", "model.moe_ffn_hidden_size"},
        std::pair{"moe-shared-expert-intermediate-size", "model.moe_shared_expert_intermediate_size"},
        std::pair{"moe-latent-size", "model.moe_latent_size"},
        std::pair{"moe-router-num-groups", "model.moe_router_num_groups"},
        std::pair{"moe-router-group-topk", "model.moe_router_group_topk"}}) {
    if (const auto word = arguments.value(flag)) tree.set(key, *word);
  }
  set_expert_layers(arguments, tree);
  check_balance(arguments);
}

// "([1]*3+[0]*1)*12": which layers have linear attention; those without are listed where they are not every n-th.
void set_linear_attention(const MegatronArguments& arguments, MegatronTree& tree) {
  constexpr std::string_view kVariant = "experimental-attention-variant";
  const auto variant = arguments.value(kVariant);
  const auto pattern = arguments.value("hybrid-layer-pattern");
  const auto letters = pattern ? pattern : arguments.value("hybrid-override-pattern");
  const bool nets = variant && (variant->text == "gated_delta_net" || variant->text == "kimi_delta_attention");
  const bool sparse = variant && variant->text == "dsa" && arguments.has("dsa-indexer-topk");
  if (variant && !nets && !sparse) {
    arguments.warn(*variant, "W136",
                   fmt::format("--{} {} is not modelled: attention is modelled as dense", kVariant, variant->text));
  }
  if (nets) tree.set("model.experimental_attention_variant", *variant);
  if (!nets && !(letters && letters->text.find('G') != std::string::npos)) return;
  for (const auto& [flag, key] : {std::pair{"linear-conv-kernel-dim", "model.linear_conv_kernel_dim"},
                                  std::pair{"linear-key-head-dim", "model.linear_key_head_dim"},
                                  std::pair{"linear-value-head-dim", "model.linear_value_head_dim"},
                                  std::pair{"linear-num-key-heads", "model.linear_num_key_heads"},
                                  std::pair{"linear-num-value-heads", "model.linear_num_value_heads"},
                                  std::pair{"kda-f-lora-rank", "model.kda_f_lora_rank"},
                                  std::pair{"kda-gate-lora-rank", "model.kda_gate_lora_rank"}}) {
    if (const auto word = arguments.value(flag)) tree.set(key, *word);
  }
  const auto word = nets ? arguments.value("linear-attention-freq") : std::nullopt;
  if (!word) return;
  if (parse_whole(word->text)) return tree.set("model.linear_attention_freq", *word);
  const std::vector<int> layers = layer_pattern(word->text);
  const std::int64_t period = std::ranges::find(layers, 0) - layers.begin() + 1;
  bool regular = period > 1 && period <= std::ssize(layers);
  std::string full;
  for (std::int64_t layer = 0; layer < std::ssize(layers); ++layer) {
    const bool linear = layers[static_cast<std::size_t>(layer)] == 1;
    regular = regular && linear == ((layer + 1) % period != 0);
    if (!linear) full += fmt::format("{}{}", full.empty() ? "" : ", ", layer + 1);
  }
  if (regular) return tree.set("model.linear_attention_freq", *word, std::to_string(period));
  if (!full.empty()) return tree.set("model.full_attn_layers", *word, fmt::format("[{}]", full));
  arguments.error(*word,
                  fmt::format("--linear-attention-freq is '{}': {}", word->text,
                              layers.empty() ? "a list of 0 and 1 is expected" : "no layer has attention"),
                  "a number, [1]*3+[0] for every layer of four, or letters G and * in --hybrid-layer-pattern");
}

// The layers of a hybrid model, then after a slash each those of one depth of multi-token prediction, which are the
// same at all depths (hybrid_layer_allocation.py: parse_hybrid_pattern).
void set_hybrid(const MegatronArguments& arguments, MegatronTree& tree) {
  const auto word = arguments.value("hybrid-layer-pattern");
  if (!word) return;
  const std::size_t end = std::min(word->text.find('/'), word->text.size());
  const std::string layers = word->text.substr(0, end);
  tree.set("model.hybrid_override_pattern", *word, layers);
  if (!arguments.has("num-layers")) tree.set("model.num_layers", *word, std::to_string(layers.size()));
  if (end == word->text.size()) return;
  const std::string depths = word->text.substr(end + 1);
  const std::string predictor = depths.substr(0, std::min(depths.find('/'), depths.size()));
  std::string expected = predictor;
  const auto count = std::ranges::count(depths, '/') + 1;
  for (auto depth = count; depth > 1; --depth) expected += "/" + predictor;
  if (depths != expected) {
    return arguments.error(*word, "--hybrid-layer-pattern has different layers of multi-token prediction",
                           "repeat one pattern: MEM*/*E/*E");
  }
  tree.set("model.mtp_hybrid_override_pattern", *word, predictor);
  tree.set("model.mtp_num_layers", *word, std::to_string(count));
}

// Megatron pads the vocabulary of its tokenizer; a log has the padded size, which further padding does not change.
void set_vocabulary(const MegatronArguments& arguments, MegatronTree& tree) {
  constexpr std::string_view kGpt2Tokens = "50257";
  if (const auto word = arguments.value("vocab-size")) return tree.set("model.vocab_size", *word);
  if (const auto word = arguments.value("padded-vocab-size")) return tree.set("model.vocab_size", *word);
  const auto tokenizer = arguments.value("tokenizer-type");
  if (tokenizer && tokenizer->text == "GPT2BPETokenizer") {
    tree.set("model.vocab_size", *tokenizer, std::string(kGpt2Tokens));
  }
}

}  // namespace

void apply_model_rules(const MegatronArguments& arguments, MegatronTree& tree) {
  set_kinds(arguments, tree);
  set_biases(arguments, tree);
  set_positions(arguments, tree);
  set_attention(arguments, tree);
  set_latent(arguments, tree);
  set_experts(arguments, tree);
  set_linear_attention(arguments, tree);
  set_hybrid(arguments, tree);
  set_vocabulary(arguments, tree);
  const auto hidden = arguments.number("hidden-size");
  if (hidden && !arguments.has("ffn-hidden-size") && arguments.has("swiglu")) {
    tree.assume("model.ffn_hidden_size", std::to_string(*hidden * 4 * 2 / 3 / 64 * 64));
  }
}

}  // namespace ringwright::configs
