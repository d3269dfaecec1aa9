// Source: Megatron-Bridge's training/mixed_precision.py. Its recipes have names; a configuration of it, as the run
// logs it, replaces the keys of the same names in model, optimizer and ddp.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "configs/scenario/imports/hydra/core_rules.h"
#include "core/base/text.h"

namespace ringwright::configs {
namespace {

constexpr std::string_view kMixed = "mixed_precision";

struct Recipe {
  std::string_view name;
  std::string_view type;      // of weights and of the other arithmetic
  std::string_view fp8 = {};  // the format
  std::string_view fp8_recipe = {};
  std::string_view fp4 = {};
  bool fp8_weights = false;  // stored and gathered
  bool wide_ends = false;    // the first and the last layers stay in bf16
};
constexpr std::array kRecipes{
    Recipe{.name = "bf16_mixed", .type = "bf16"},
    Recipe{.name = "fp16_mixed", .type = "fp16"},
    Recipe{"bf16_with_fp8_delayed_scaling_mixed", "bf16", "hybrid", "delayed", {}, true},
    Recipe{"fp16_with_fp8_delayed_scaling_mixed", "fp16", "hybrid", "delayed", {}, true},
    Recipe{"bf16_with_mxfp8_mixed", "bf16", "e4m3", "mxfp8", {}, true},
    Recipe{"fp16_with_mxfp8_mixed", "fp16", "e4m3", "mxfp8", {}, true},
    Recipe{"bf16_with_fp8_current_scaling_mixed", "bf16", "hybrid", "tensorwise", {}, true, true},
    Recipe{"fp16_with_fp8_current_scaling_mixed", "fp16", "hybrid", "tensorwise", {}, true, true},
    Recipe{"nemotron_h_bf16_with_fp8_current_scaling_mixed", "bf16", "hybrid", "tensorwise", {}, true, true},
    Recipe{"nanov2_bf16_with_fp8_current_scaling_mixed", "bf16", "hybrid", "blockwise", {}, true, true},
    Recipe{"bf16_with_fp8_subchannel_scaling_mixed", "bf16", "hybrid", "blockwise"},
    Recipe{"fp16_with_fp8_subchannel_scaling_mixed", "fp16", "hybrid", "blockwise"},
    Recipe{"bf16_with_nvfp4_mixed", "bf16", {}, {}, "e2m1"},
};

void apply_recipe(const HydraKey& key, FlagList& flags) {
  std::string name = value_of(key).word.text;
  std::ranges::replace(name, '-', '_');
  const auto* recipe = std::ranges::find(kRecipes, name, &Recipe::name);
  if (recipe == kRecipes.end()) {
    std::vector<std::string> names;
    for (const Recipe& known : kRecipes) names.emplace_back(known.name);
    const std::string near = nearest_name(name, names);
    return flags.error(
        key, fmt::format("{} is '{}', which is no recipe", key.path, value_of(key).word.text),
        near.empty() ? fmt::format("one of: {}", fmt::join(names, ", ")) : fmt::format("did you mean {}?", near));
  }
  flags.turn_on(recipe->type, key);
  if (!recipe->fp8.empty()) {
    flags.give("fp8-format", key, std::string(recipe->fp8));
    flags.give("fp8-recipe", key, std::string(recipe->fp8_recipe));
  }
  if (!recipe->fp4.empty()) flags.give("fp4-format", key, std::string(recipe->fp4));
  if (recipe->fp8_weights) flags.turn_on("fp8-param-gather", key);
  if (recipe->wide_ends) flags.turn_on("first-last-layers-bf16", key);
}

// Of mixed_precision where it is given there, else the section's own.
class PrecisionKeys {
 public:
  explicit PrecisionKeys(RunSections& run) : run_(run) {}

  [[nodiscard]] HydraKey find(std::string_view name, std::string_view section = "model") const {
    const HydraKey mixed = run_.key(kMixed, name);
    return mixed.node != nullptr ? mixed : run_.key(section, name);
  }
  [[nodiscard]] bool is_on(std::string_view name) const { return run_.flags().is_on(find(name)); }

 private:
  RunSections& run_;
};

void set_narrow_types(const PrecisionKeys& keys, FlagList& flags) {
  const HydraKey fp8 = keys.find("fp8");
  const HydraKey fp4 = keys.find("fp4");
  const bool has_fp8 = is_given(fp8);
  const bool has_fp4 = is_given(fp4);
  if (has_fp8 && has_fp4) {
    return flags.error(fp4, fmt::format("{} and {} contradict each other", fp8.path, fp4.path),
                       "set one of them to null");
  }
  if (!has_fp8 && !has_fp4) return;
  if (has_fp8) {
    flags.give("fp8-format", fp8);
    flags.give("fp8-recipe", keys.find("fp8_recipe"));
    // MixedPrecisionConfig's default; the model's own is "delayed".
    if (!flags.has("fp8-recipe") && fp8.path.find(kMixed) != std::string::npos) {
      flags.assume("fp8-recipe", "tensorwise");
    }
  } else {
    flags.give("fp4-format", fp4);
    flags.give("fp4-recipe", keys.find("fp4_recipe"));
  }
  for (const std::string_view name : {"fp8_dot_product_attention", "fp8_multi_head_attention"}) {
    if (keys.is_on(name)) flags.turn_on(flag_of({.name = name}), keys.find(name));
  }
  for (const std::string_view name : {"fp8_param", "fp8_param_gather"}) {
    if (keys.is_on(name)) flags.turn_on("fp8-param-gather", keys.find(name));
  }
  for (const std::string_view name : {"fp4_param", "fp4_param_gather"}) {
    if (keys.is_on(name)) flags.turn_on("fp4-param-gather", keys.find(name));
  }
  if (keys.is_on("first_last_layers_bf16")) {
    flags.turn_on("first-last-layers-bf16", keys.find("first_last_layers_bf16"));
  }
}

// DistributedDataParallelConfig's default is to reduce gradients in the type of the parameters.
void set_gradients(RunSections& run, const PrecisionKeys& keys, bool by_recipe) {
  FlagList& flags = run.flags();
  const HydraKey wide = keys.find("grad_reduce_in_fp32", "ddp");
  if (flags.read_switch(wide) == false && !by_recipe && flags.has("bf16")) flags.turn_on("grad-reduce-in-bf16", wide);
  const bool by_plugin = run.key(kMixed, "precision").node != nullptr;  // of NeMo 2, fp32 by default
  if (wide.node == nullptr && !by_recipe && !by_plugin && flags.has("bf16") && run.is_whole()) {
    flags.assume("grad-reduce-in-bf16", "");
  }
  if (!flags.is_on(run.key("optimizer", "use_precision_aware_optimizer"))) return;
  const HydraKey main = run.key("optimizer", "main_grads_dtype");
  const std::string type = value_of(main).word.text;
  if (type.empty() || type == (flags.has("grad-reduce-in-bf16") ? "bf16" : "fp32")) return;
  flags.give("main-grads-dtype", main);
}

}  // namespace

void apply_mixed_precision(RunSections& run, const HydraKey& mixed_precision) {
  FlagList& flags = run.flags();
  const bool by_recipe =
      value_of(mixed_precision).kind == HydraKind::kWord && mixed_precision.node->kind != ConfigKind::kMap;
  const PrecisionKeys keys(run);
  if (by_recipe) {
    apply_recipe(mixed_precision, flags);
  } else {
    for (const std::string_view name : {"bf16", "fp16"}) {
      if (keys.is_on(name)) flags.turn_on(name, keys.find(name));
    }
    set_narrow_types(keys, flags);
  }
  set_gradients(run, keys, by_recipe);
}

}  // namespace ringwright::configs
