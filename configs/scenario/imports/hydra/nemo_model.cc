// Sources: NeMo's megatron_base_model.py (build_transformer_config) and megatron_gpt_model.py.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "configs/scenario/imports/hydra/core_rules.h"
#include "configs/scenario/imports/hydra/nemo_rules.h"
#include "core/base/text.h"

namespace ringwright::configs {
namespace {

// A word of NeMo, and what Megatron-LM calls it or, in another row, what is modelled instead.
struct NemoWord {
  std::string_view theirs;
  std::string_view ours;
  bool exact = true;
};

constexpr std::array kNorms{NemoWord{"layernorm", "LayerNorm"}, NemoWord{"layernorm1p", "LayerNorm"},
                            NemoWord{"low_precision_layernorm", "LayerNorm"}, NemoWord{"rmsnorm", "RMSNorm"}};
constexpr std::array kActivationWords{NemoWord{"gelu", "gelu"},           NemoWord{"openai_gelu", "gelu"},
                                      NemoWord{"swiglu", "swiglu"},       NemoWord{"fast-swiglu", "swiglu"},
                                      NemoWord{"geglu", "swiglu", false}, NemoWord{"fast-geglu", "swiglu", false},
                                      NemoWord{"reglu", "swiglu", false}, NemoWord{"fast-reglu", "swiglu", false},
                                      NemoWord{"relu", "gelu", false},    NemoWord{"squared-relu", "gelu", false}};
constexpr std::array kPositions{NemoWord{"learned_absolute", "learned_absolute"},
                                NemoWord{"rope", "rope"},
                                NemoWord{"none", "none"},
                                NemoWord{"alibi", "none", false},
                                NemoWord{"kerple", "none", false},
                                NemoWord{"sandwich", "none", false}};

// nullptr: not given, or after an error.
const NemoWord* known_word(const HydraKey& key, std::span<const NemoWord> words, FlagList& flags) {
  if (!is_given(key)) return nullptr;
  const std::string text = value_of(key).word.text;
  const auto word = std::ranges::find(words, text, &NemoWord::theirs);
  if (word != words.end()) {
    if (word->exact) return &*word;
    flags.warn(key, "W136", fmt::format("{} {} is not modelled: it is taken for {}", key.path, text, word->ours));
    return &*word;
  }
  std::vector<std::string> names;
  for (const NemoWord& known : words) names.emplace_back(known.theirs);
  const std::string near = nearest_name(text, names);
  flags.error(
      key, fmt::format("{} is '{}'{}", key.path, text, near.empty() ? "" : fmt::format("; did you mean '{}'?", near)),
      fmt::format("one of: {}", fmt::join(names, ", ")));
  return nullptr;
}

void set_words(RunSections& run) {
  FlagList& flags = run.flags();
  const HydraKey norm = run.key("model", "normalization");
  if (const auto* word = known_word(norm, kNorms, flags)) flags.give("normalization", norm, std::string(word->ours));
  const HydraKey activation = run.key("model", "activation");
  const auto* function = known_word(activation, kActivationWords, flags);
  if (function != nullptr && function->ours == "swiglu") flags.turn_on("swiglu", activation);
  const HydraKey positions = run.key("model", "position_embedding_type");
  if (const auto* word = known_word(positions, kPositions, flags)) {
    flags.give("position-embedding-type", positions, std::string(word->ours));
  }
}

void set_layers_of(RunSections& run) {
  FlagList& flags = run.flags();
  const HydraKey core = run.key("model", "mcore_gpt");
  const HydraKey engine = run.key("model", "transformer_engine");
  if (flags.is_on(core)) return flags.give("transformer-impl", core, "transformer_engine");
  if (flags.is_on(engine)) return flags.give("transformer-impl", engine, "transformer_engine");
  if (is_given(engine)) flags.give("transformer-impl", engine, "local");
}

void set_lengths_of_samples(RunSections& run) {
  FlagList& flags = run.flags();
  const HydraKey own = run.key("model", "encoder_seq_length");
  const HydraKey samples = run.key("data", "seq_length");
  if (!is_given(samples) || is_unresolved(value_of(samples).word.text)) return;
  const auto tokens = flags.read_number(samples);
  if (!tokens) return;
  if (!is_given(own)) return flags.give("seq-length", samples);
  const auto length = flags.read_number(own);
  if (!length || length == tokens) return;
  flags.error(samples, fmt::format("{} is {}, but {} is {}", samples.path, *tokens, own.path, *length),
              "the model and its samples have one length");
}

}  // namespace

void apply_nemo_model(RunSections& run) {
  FlagList& flags = run.flags();
  set_words(run);
  set_layers_of(run);
  set_lengths_of_samples(run);
  apply_core_heads(run);
  apply_core_width(run);
  apply_core_positions(run);
  apply_core_kinds_of_layers(run);
  apply_core_stages(run);
  apply_core_expert_overlap(run);
  const HydraKey tokenizer = run.key("tokenizer", "type");
  if (value_of(tokenizer).word.text == "GPT2BPETokenizer") flags.give("tokenizer-type", tokenizer);
  const HydraKey flash = run.key("model", "use_flash_attention");
  if (flags.is_on(flash)) flags.give("attention-backend", flash, "flash");
}

}  // namespace ringwright::configs
