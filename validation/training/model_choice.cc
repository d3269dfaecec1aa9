#include "validation/training/model_choice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "validation/tables/yaml_text.h"

namespace ringwright::validation {
namespace {

using Refusal = tl::unexpected<std::string>;

constexpr double kSameParameters = 0.05;  // names of models round to two digits

// A decoder of Llama's or of GPT-NeoX's kind, from the row's sizes alone.
struct Decoder {
  std::string_view words;
  std::array<Setting, 3> keys;
  bool gated = false;
  bool experts = false;
};

const std::array<Setting, 3> kLlama = {{{"normalization", "rmsnorm"}, {"activation", "swiglu"}, {"bias", "none"}}};
const std::array<Setting, 3> kNeoX = {{{"normalization", "layernorm"}, {"activation", "gelu"}, {"bias", "all"}}};
const std::array kDecoders = {Decoder{.words = "a gated MLP", .keys = kLlama, .gated = true},
                              Decoder{.words = "an MLP without a gate", .keys = kNeoX},
                              Decoder{.words = "gated experts", .keys = kLlama, .gated = true, .experts = true}};

// Billions, without norms and biases; embedding and output layer are separate, or one with `tied`.
double parameters(const TrainingRow& row, const Decoder& kind, bool tied) {
  const double hidden = static_cast<double>(*row.hidden);
  const double heads = static_cast<double>(*row.heads);
  const double size = row.head_size ? static_cast<double>(*row.head_size) : hidden / heads;
  const double groups = static_cast<double>(row.kv_heads.value_or(*row.heads));
  const double attention = 2.0 * hidden * size * (heads + groups);
  const double matrices = kind.gated ? 3.0 : 2.0;
  double mlp = matrices * hidden * static_cast<double>(row.ffn.value_or(0));
  if (kind.experts) {
    const auto width = static_cast<double>(row.expert_ffn.value_or(row.ffn.value_or(0)));
    mlp = matrices * hidden * width * static_cast<double>(*row.experts + row.shared_experts.value_or(0));
  }
  const double vocabulary = hidden * static_cast<double>(row.vocabulary.value_or(0));
  return (static_cast<double>(*row.layers) * (attention + mlp) + vocabulary * (tied ? 1.0 : 2.0)) / 1e9;
}

class Chooser {
 public:
  Chooser(const TrainingRow& row, const TrainingConventions& conventions, bool adapters)
      : row_(row), conventions_(conventions), adapters_(adapters) {}

  tl::expected<ModelChoice, std::string> choose() {
    const ModelRule* const rule = find_rule(conventions_.models, row_.model + (adapters_ ? " lora" : ""));
    if (!adapters_ && !row_.shipped_model.empty() && (rule == nullptr || rule->preset != row_.shipped_model)) {
      return shipped();
    }
    if (rule == nullptr) return inferred();
    if (!rule->refused.empty()) {
      return Refusal(fmt::format("'{}' cannot be simulated: {}", row_.model, rule->refused));
    }
    if (!row_.shipped_model.empty() && !row_.hidden && !adapters_) return shipped();
    return by_rule(*rule);
  }

 private:
  void set(std::string_view key, std::string value) {
    choice_.settings.push_back({.path = "model." + std::string(key), .value = std::move(value)});
  }
  void set_if(std::string_view key, const std::optional<std::int64_t>& value) {
    if (value) set(key, fmt::format("{}", *value));
  }

  ModelChoice shipped();
  tl::expected<ModelChoice, std::string> by_rule(const ModelRule& rule);
  tl::expected<ModelChoice, std::string> inferred();
  void heads();
  void sizes();
  void experts();

  const TrainingRow& row_;
  const TrainingConventions& conventions_;
  bool adapters_;
  ModelChoice choice_;
};

// The preset knows the size of its heads; tables often state hidden / heads.
ModelChoice Chooser::shipped() {
  set("preset", row_.shipped_model);
  if (!row_.hidden) {
    set_if("vocab_size", row_.vocabulary);
    set_if("seq_length", row_.sequence);
  } else {
    set("name", yaml_quoted(row_.model));
    set_if("num_layers", row_.layers);
    set_if("hidden_size", row_.hidden);
    set_if("num_attention_heads", row_.heads);
    set_if("num_query_groups", row_.kv_heads);
    if (row_.heads && row_.head_size && *row_.heads * *row_.head_size != *row_.hidden) {
      set_if("kv_channels", row_.head_size);
    }
    sizes();
  }
  experts();
  return std::move(choice_);
}

tl::expected<ModelChoice, std::string> Chooser::by_rule(const ModelRule& rule) {
  if (!row_.layers || !row_.hidden) return Refusal("the source gives no number of layers or no hidden size");
  set("preset", rule.preset);
  set("name", yaml_quoted(row_.model));
  set_if("num_layers", row_.layers);
  set_if("hidden_size", row_.hidden);
  heads();
  sizes();
  if (rule.learned_positions) set_if("max_position_embeddings", row_.sequence);
  experts();
  for (const Setting& setting : rule.set) set(setting.path, setting.value);
  return std::move(choice_);
}

// No name is known: which decoder has as many parameters as the row states?
tl::expected<ModelChoice, std::string> Chooser::inferred() {
  const std::string unknown = fmt::format("no known model has the structure of '{}'", row_.model);
  const bool moe = row_.experts.value_or(0) > 0;
  const bool sized = row_.layers && row_.hidden && row_.heads && row_.ffn && row_.vocabulary && row_.sequence;
  if (!sized) return Refusal(unknown + ", and it does not state layers, hidden, heads, ffn, vocab and seq");
  if (!row_.billions)
    return Refusal(unknown + ", and it does not state its parameters (params_b), which would show it");
  const Decoder* best = nullptr;
  bool best_tied = false;
  double off = 0.0;
  for (const Decoder& kind : kDecoders) {
    for (const bool tied : {false, true}) {
      const double error = std::abs(parameters(row_, kind, tied) / *row_.billions - 1.0);
      if (kind.experts != moe || (best != nullptr && error >= off)) continue;
      best = &kind;
      best_tied = tied;
      off = error;
    }
  }
  if (off > kSameParameters) {
    return Refusal(fmt::format("{}, and a decoder of its sizes has {:.4g} billion parameters, not {:.4g}", unknown,
                               parameters(row_, *best, best_tied), *row_.billions));
  }
  choice_.assumed.push_back(fmt::format("a decoder with {} and {} embeddings, as its {:.4g} billion parameters show",
                                        best->words, best_tied ? "tied" : "separate", *row_.billions));
  set("name", yaml_quoted(row_.model));
  set_if("num_layers", row_.layers);
  set_if("hidden_size", row_.hidden);
  heads();
  sizes();
  for (const Setting& key : best->keys) set(key.path, key.value);
  set("position_embedding", "rotary");
  set("untie_embeddings_and_output_weights", best_tied ? "false" : "true");
  experts();
  return std::move(choice_);
}

void Chooser::heads() {
  const SourceRule* const source = conventions_.find_source(row_.source(), row_.model);
  const std::int64_t usual = source != nullptr && source->heads > 0 ? source->heads : *row_.hidden / 128;
  const std::int64_t heads = row_.heads.value_or(std::max<std::int64_t>(1, usual));
  if (!row_.heads) {
    choice_.assumed.push_back(fmt::format("{} attention heads, of size {}", heads, *row_.hidden / heads));
  }
  set_if("num_attention_heads", heads);
  set_if("num_query_groups", row_.kv_heads.value_or(heads));
  const bool stated = row_.heads && row_.head_size;
  set_if("kv_channels", stated ? *row_.head_size : std::max<std::int64_t>(1, *row_.hidden / heads));
}

void Chooser::sizes() {
  set_if("ffn_hidden_size", row_.ffn);
  set_if("vocab_size", row_.vocabulary);
  set_if("seq_length", row_.sequence);
}

void Chooser::experts() {
  if (!row_.experts) return;
  set_if("num_experts", row_.experts);
  set_if("moe_router_topk", row_.top_k);
  set_if("moe_ffn_hidden_size", row_.expert_ffn);
  if (!row_.shared_experts || !row_.expert_ffn) return;
  set_if("moe_shared_expert_intermediate_size", *row_.shared_experts * *row_.expert_ffn);
}

}  // namespace

tl::expected<ModelChoice, std::string> choose_model(const TrainingRow& row, const TrainingConventions& conventions,
                                                    bool adapters) {
  return Chooser(row, conventions, adapters).choose();
}

}  // namespace ringwright::validation
