// Sources: NeMo's megatron_base_model.py, megatron_trainer_builder.py and parts/utils.py (torch_dtype_from_precision).
#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "configs/scenario/imports/hydra/nemo_rules.h"

namespace ringwright::configs {
namespace {

struct Named {
  std::string_view theirs, flag;
};
constexpr std::array kTypesOfTrainer{Named{"bf16", "bf16"},      Named{"bf16-mixed", "bf16"},
                                     Named{"bf16-true", "bf16"}, Named{"16", "fp16"},
                                     Named{"16-mixed", "fp16"},  Named{"16-true", "fp16"},
                                     Named{"fp16", "fp16"},      Named{"32", ""},
                                     Named{"32-true", ""},       Named{"fp32", ""}};

void set_main_parameters(RunSections& run, const HydraKey& type) {
  FlagList& flags = run.flags();
  HydraKey main = run.key("model", "megatron_amp_O2");
  if (!is_given(main)) main = run.key("model", "megatron_amp_o2");
  const bool is_core = flags.is_on(main) || (!is_given(main) && !run.is_whole());
  if (is_core) return;
  flags.warn(
      is_given(main) ? main : type, "W136",
      fmt::format("{} false is not modelled: weights are stored in 16 bits, main parameters in fp32", main.path));
}

// Formats of the engine's recipes: hybrid has e5m2 for gradients.
void set_fp8(RunSections& run, const HydraKey& fp8) {
  FlagList& flags = run.flags();
  const HydraKey narrow = run.key("model", "fp8_e4m3");
  flags.give("fp8-format", fp8, flags.is_on(narrow) ? "e4m3" : "hybrid");
  flags.give("fp8-recipe", run.key("model", "fp8_recipe"));
  for (const std::string_view name : {"fp8_dot_product_attention", "fp8_multi_head_attention"}) {
    const HydraKey key = run.key("model", name);
    if (flags.is_on(key)) flags.turn_on(flag_of({.name = name}), key);
  }
  for (const auto& [section, name] :
       {Named{"model", "fp8_params"}, Named{"model", "fp8_param"}, Named{"model", "fp8_param_gather"},
        Named{"optim", "fp8_params"}, Named{"ddp", "fp8_param_gather"}}) {
    const HydraKey key = run.key(section, name);
    if (flags.is_on(key)) flags.turn_on("fp8-param-gather", key);
  }
}

void set_narrow(RunSections& run) {
  FlagList& flags = run.flags();
  const HydraKey fp8 = run.key("model", "fp8");
  const HydraKey fp4 = run.key("model", "fp4");
  // Both, with healing: a run in fp4 has its last steps in fp8.
  if (flags.is_on(fp4)) {
    flags.give("fp4-format", fp4, "e2m1");
    flags.give("fp4-recipe", run.key("model", "fp4_recipe"));
  } else if (flags.is_on(fp8)) {
    set_fp8(run, fp8);
  } else {
    return;
  }
  const HydraKey ends = run.key("model", "first_last_layers_bf16");
  if (flags.is_on(ends)) flags.turn_on("first-last-layers-bf16", ends);
}

// Needs the main gradients of O2.
void set_accumulation(RunSections& run) {
  FlagList& flags = run.flags();
  const HydraKey fused = run.key("model", "gradient_accumulation_fusion");
  if (is_given(fused)) {
    if (!flags.is_on(fused)) flags.turn_on("no-gradient-accumulation-fusion", fused);
  } else if (run.is_whole()) {
    flags.assume("no-gradient-accumulation-fusion", "");
  }
}

}  // namespace

void apply_nemo_type(RunSections& run, const HydraKey& key) {
  FlagList& flags = run.flags();
  if (!is_given(key) || !flags.is_known(key)) return;
  const auto* type = std::ranges::find(kTypesOfTrainer, value_of(key).word.text, &Named::theirs);
  if (type == kTypesOfTrainer.end()) {
    return flags.error(key, fmt::format("{} is '{}'", key.path, value_of(key).word.text),
                       "one of: bf16, bf16-mixed, 16, 16-mixed, 32");
  }
  if (!type->flag.empty()) flags.turn_on(type->flag, key);
}

void apply_nemo_precision(RunSections& run) {
  HydraKey type = run.key("trainer", "precision");
  if (!is_given(type)) type = run.key("model", "precision");
  apply_nemo_type(run, type);
  if (run.flags().has("bf16") || run.flags().has("fp16")) set_main_parameters(run, type);
  set_narrow(run);
  set_accumulation(run);
}

// 'selective' with 'block' counts layers in the layers that are not Megatron-Core's.
void apply_nemo_recomputation(RunSections& run) {
  FlagList& flags = run.flags();
  HydraKey granularity = run.key("model", "activations_checkpoint_granularity");
  const HydraKey method = run.key("model", "activations_checkpoint_method");
  const HydraKey layers = run.key("model", "activations_checkpoint_num_layers");
  const std::string word = value_of(granularity).word.text;
  const bool counted = word == "selective" && value_of(method).word.text == "block" && is_given(layers) &&
                       !flags.is_on(run.key("model", "mcore_gpt"));
  if (counted && flags.read_number(layers) == 0) return;
  if (counted) {
    flags.warn(layers, "W136", fmt::format("{} is not modelled with 'selective': all layers recompute", layers.path));
  }
  flags.give("recompute-granularity", granularity);
  if (word != "full") return;
  flags.give("recompute-method", method);
  flags.give("recompute-num-layers", layers);
}

}  // namespace ringwright::configs
