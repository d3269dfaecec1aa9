// Sources: validate_args and the choices of Megatron-LM's arguments.py, and __post_init__ of transformer_config.py and
// optimizer_config.py (core 0.12 to 0.14). What the scenario's own keys refuse is left to them.
#include "configs/scenario/imports/megatron/megatron_checks.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/base/text.h"

namespace ringwright::configs {
namespace {

struct FlagPair {
  std::string_view flag, other;
};

constexpr std::array kIdleWithout{
    FlagPair{"num-query-groups", "group-query-attention"},
    FlagPair{"q-lora-rank", "multi-latent-attention"},
    FlagPair{"kv-lora-rank", "multi-latent-attention"},
    FlagPair{"qk-head-dim", "multi-latent-attention"},
    FlagPair{"qk-pos-emb-head-dim", "multi-latent-attention"},
    FlagPair{"v-head-dim", "multi-latent-attention"},
    FlagPair{"moe-router-topk", "num-experts"},
    FlagPair{"moe-ffn-hidden-size", "num-experts"},
    FlagPair{"moe-shared-expert-intermediate-size", "num-experts"},
    FlagPair{"moe-shared-expert-gate", "num-experts"},
    FlagPair{"moe-layer-freq", "num-experts"},
    FlagPair{"moe-router-num-groups", "num-experts"},
    FlagPair{"moe-router-group-topk", "num-experts"},
    FlagPair{"moe-token-dispatcher-type", "num-experts"},
    FlagPair{"moe-expert-capacity-factor", "num-experts"},
    FlagPair{"expert-tensor-parallel-size", "num-experts"},
    FlagPair{"fp8-recipe", "fp8-format"},
    FlagPair{"fp4-recipe", "fp4-format"},
    FlagPair{"optimizer-offload-fraction", "optimizer-cpu-offload"},
    FlagPair{"sgd-momentum", "optimizer"},
    FlagPair{"cpu-offloading-num-layers", "cpu-offloading"},
    FlagPair{"cross-entropy-fusion-impl", "cross-entropy-loss-fusion"},
    FlagPair{"tile-factor", "memory-centric-tiled-linear"},
    FlagPair{"ddp-bucket-size", "overlap-grad-reduce"},
};

constexpr std::array kRefusedWithout{
    FlagPair{"overlap-param-gather", "overlap-grad-reduce"},
    FlagPair{"optimizer-cpu-offload", "use-precision-aware-optimizer"},
    FlagPair{"moe-pad-expert-input-to-capacity", "moe-expert-capacity-factor"},
};

constexpr std::array kRefusedWith{
    FlagPair{"num-layers-per-virtual-pipeline-stage", "num-virtual-stages-per-pipeline-rank"},
    FlagPair{"num-layers-per-virtual-pipeline-stage", "decoder-first-pipeline-num-layers"},
    FlagPair{"num-layers-per-virtual-pipeline-stage", "decoder-last-pipeline-num-layers"},
    FlagPair{"cpu-offloading", "recompute-granularity"},
};

struct FlagChoice {
  std::string_view flag;
  std::vector<std::string> words;
};

void check_flag_choices(const MegatronArguments& arguments) {
  for (const FlagChoice& choice :
       {FlagChoice{"normalization", {"LayerNorm", "RMSNorm"}},
        FlagChoice{"position-embedding-type", {"learned_absolute", "rope", "mrope", "yarn", "relative", "none"}},
        FlagChoice{"data-parallel-sharding-strategy", {"no_shard", "optim", "optim_grads", "optim_grads_params"}},
        FlagChoice{"attention-backend", {"flash", "fused", "unfused", "local", "auto"}},
        FlagChoice{"cross-entropy-fusion-impl", {"native", "te"}},
        FlagChoice{"softmax-type", {"vanilla", "off-by-one", "learnable"}}}) {
    const auto word = arguments.value(choice.flag);
    if (!word) continue;
    const std::string text = word->text.substr(word->text.rfind('.') + 1);  // AttnBackend.flash as well
    if (std::ranges::find(choice.words, text) != choice.words.end()) continue;
    const std::string near = nearest_name(text, choice.words);
    arguments.error(*word,
                    fmt::format("--{} is '{}'{}", choice.flag, word->text,
                                near.empty() ? std::string() : fmt::format("; did you mean '{}'?", near)),
                    fmt::format("one of: {}", fmt::join(choice.words, ", ")));
  }
}

void refuse_without(const MegatronArguments& arguments, std::string_view flag, std::string_view other) {
  arguments.error(arguments.flag(flag).at, fmt::format("Megatron-LM refuses --{} without --{}", flag, other),
                  fmt::format("give --{}, or omit --{}", other, flag));
}

void check_flag_pairs(const MegatronArguments& arguments) {
  for (const FlagPair& pair : kIdleWithout) {
    if (!arguments.has(pair.flag) || arguments.has(pair.other)) continue;
    arguments.warn(arguments.flag(pair.flag).at, "W131",
                   fmt::format("--{} has no effect without --{}", pair.flag, pair.other));
  }
  for (const FlagPair& pair : kRefusedWithout) {
    if (arguments.has(pair.flag) && !arguments.has(pair.other)) refuse_without(arguments, pair.flag, pair.other);
  }
}

void refuse_pairs(const MegatronArguments& arguments) {
  for (const FlagPair& pair : kRefusedWith) {
    if (!arguments.has(pair.flag) || !arguments.has(pair.other)) continue;
    arguments.error(arguments.flag(pair.flag).at,
                    fmt::format("Megatron-LM refuses --{} together with --{}", pair.flag, pair.other));
  }
}

bool has_any_flag(const MegatronArguments& arguments, std::initializer_list<std::string_view> flags) {
  return std::ranges::any_of(flags, [&](std::string_view flag) { return arguments.has(flag); });
}

void check_gather_flags(const MegatronArguments& arguments) {
  if (arguments.has("overlap-param-gather") &&
      !has_any_flag(arguments, {"use-distributed-optimizer", "use-megatron-fsdp", "use-custom-fsdp", "use-torch-fsdp2",
                                "data-parallel-sharding-strategy"})) {
    refuse_without(arguments, "overlap-param-gather", "use-distributed-optimizer");
  }
}

void check_state_types(const MegatronArguments& arguments) {
  for (const std::string_view flag : {"main-params-dtype", "exp-avg-dtype", "exp-avg-sq-dtype"}) {
    const auto type = arguments.value(flag);
    if (!type || type->text == "fp32" || arguments.has("use-precision-aware-optimizer")) continue;
    refuse_without(arguments, flag, "use-precision-aware-optimizer");
  }
}

void check_full_recompute(const MegatronArguments& arguments) {
  const auto granularity = arguments.value("recompute-granularity");
  if (!granularity || granularity->text != "full" || arguments.has("recompute-method")) return;
  arguments.error(*granularity, "Megatron-LM refuses --recompute-granularity full without --recompute-method",
                  "give --recompute-method uniform or block");
}

void check_recompute_flags(const MegatronArguments& arguments) {
  const auto granularity = arguments.value("recompute-granularity");
  const bool full = granularity && granularity->text == "full";
  const auto warn = [&](std::string_view flag, std::string_view needed) {
    if (!arguments.has(flag)) return;
    arguments.warn(arguments.flag(flag).at, "W131",
                   fmt::format("--{} has no effect without --recompute-granularity {}", flag, needed));
  };
  if (!full) {
    for (const char* flag : {"recompute-method", "recompute-num-layers", "distribute-saved-activations"})
      warn(flag, "full");
  }
  if (full || (!granularity && !arguments.has("recompute-activations"))) warn("recompute-modules", "selective");
}

void check_flag_sizes(const MegatronArguments& arguments) {
  const auto one = [&](std::string_view flag) { return arguments.number(flag).value_or(1) <= 1; };
  const auto warn = [&](std::string_view flag, std::string_view why) {
    if (!arguments.has(flag)) return;
    arguments.warn(arguments.flag(flag).at, "W131", fmt::format("--{} has no effect: {}", flag, why));
  };
  if (one("tensor-model-parallel-size")) warn("sequence-parallel", "--tensor-model-parallel-size is 1");
  if (one("context-parallel-size")) {
    for (const char* flag : {"cp-comm-type", "hierarchical-context-parallel-sizes"})
      warn(flag, "--context-parallel-size is 1");
  }
  if (has_any_flag(arguments, {"num-layers-per-virtual-pipeline-stage", "num-virtual-stages-per-pipeline-rank",
                               "virtual-pipeline-model-parallel-size", "pipeline-model-parallel-layout"})) {
    return;
  }
  for (const char* flag : {"microbatch-group-size-per-virtual-pipeline-stage", "microbatch-group-size-per-vp-stage"})
    warn(flag, "stages have one chunk");
}

// transformer_config.py, __post_init__.
void check_offloading_flags(const MegatronArguments& arguments) {
  constexpr std::string_view kStages = "pipeline-model-parallel-size";
  if (!arguments.has("cpu-offloading") || arguments.number(kStages).value_or(1) <= 1) return;
  arguments.error(
      arguments.flag("cpu-offloading").at,
      fmt::format("Megatron-LM refuses --cpu-offloading with --{} {}", kStages, arguments.value(kStages)->text),
      "omit --cpu-offloading, or recompute activations");
}

void check_kernel_flags(const MegatronArguments& arguments) {
  const auto backend = arguments.value("attention-backend");
  const bool unfused = backend && (backend->text == "unfused" || backend->text == "local");
  if (unfused && arguments.has("no-masked-softmax-fusion")) {
    arguments.warn(arguments.flag("no-masked-softmax-fusion").at, "W136",
                   "--no-masked-softmax-fusion is not modelled: scale, mask and softmax are one kernel");
  }
  if (const auto type = arguments.value("softmax-type"); type && type->text == "off-by-one") {
    arguments.warn(*type, "W136", "--softmax-type off-by-one is not modelled: the softmax has no sink");
  }
  if (arguments.has("moe-enable-deepep")) {
    const auto dispatcher = arguments.value("moe-token-dispatcher-type");
    if (!dispatcher || dispatcher->text != "flex") {
      refuse_without(arguments, "moe-enable-deepep", "moe-token-dispatcher-type flex");
    }
  }
}

}  // namespace

void check_megatron(const MegatronArguments& arguments) {
  if (arguments.spelling() == MegatronSpelling::kArguments) return;
  check_flag_choices(arguments);
  check_full_recompute(arguments);
  check_state_types(arguments);
  refuse_pairs(arguments);
  if (!is_of_keys(arguments.spelling())) {  // a YAML states the sizes of what is off as well
    check_flag_pairs(arguments);
    check_gather_flags(arguments);
    check_recompute_flags(arguments);
    check_flag_sizes(arguments);
  }
  check_offloading_flags(arguments);
  check_kernel_flags(arguments);
}

}  // namespace ringwright::configs
