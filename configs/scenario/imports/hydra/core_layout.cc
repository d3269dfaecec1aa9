// Sources: Megatron-Bridge's training/config.py, and megatron/core/transformer/pipeline_parallel_layer_layout.py.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "configs/scenario/imports/hydra/core_rules.h"

namespace ringwright::configs {
namespace {

struct Letter {
  std::string_view word;
  char letter;
};
constexpr std::array kLetters{Letter{"embedding", 'E'}, Letter{"decoder", 't'}, Letter{"mtp", 'm'},
                              Letter{"loss", 'L'}};

// [[embedding, decoder], [decoder, loss]] is "Et|tL"; empty after an error.
std::string layout_text(const HydraKey& key, FlagList& flags) {
  std::string text;
  for (const ConfigNode& stage : key.node->items) {
    if (&stage != key.node->items.data()) text += '|';
    for (const ConfigNode& layer : stage.items) {
      const auto* known = std::ranges::find(kLetters, layer.text, &Letter::word);
      if (known == kLetters.end()) {
        flags.error({.path = key.path, .node = &layer}, fmt::format("{} has a layer '{}'", key.path, layer.text),
                    "embedding, decoder, mtp or loss");
        return {};
      }
      text += known->letter;
    }
  }
  return text;
}

// Either of the two turns both on.
void set_sharded_optimizer(RunSections& run) {
  FlagList& flags = run.flags();
  for (const std::string_view section : {"optimizer", "ddp"}) {
    const HydraKey sharded = run.key(section, "use_distributed_optimizer");
    if (flags.is_on(sharded)) flags.turn_on("use-distributed-optimizer", sharded);
  }
  const HydraKey strategy = run.key("ddp", "data_parallel_sharding_strategy");
  for (const std::string_view section : {"dist", "ddp"}) {
    if (flags.is_on(run.key(section, "use_megatron_fsdp"))) flags.give("data-parallel-sharding-strategy", strategy);
  }
  if (value_of(run.key("optimizer", "optimizer")).word.text == "sgd") {
    flags.give("sgd-momentum", run.key("optimizer", "sgd_momentum"));
  }
  if (!flags.is_on(run.key("optimizer", "use_precision_aware_optimizer"))) return;
  const HydraKey remainders = run.key("optimizer", "store_param_remainders");
  if (flags.read_switch(remainders) == false) {
    flags.warn(
        remainders, "W136",
        fmt::format("{} false is not modelled: the lower halves of main parameters are stored", remainders.path));
  }
}

}  // namespace

void apply_core_stages(RunSections& run) {
  FlagList& flags = run.flags();
  const HydraKey layout = run.key("model", "pipeline_model_parallel_layout");
  const HydraKind kind = value_of(layout).kind;
  if (kind == HydraKind::kWord) flags.give("pipeline-model-parallel-layout", layout);
  if (kind == HydraKind::kList) {
    if (const std::string text = layout_text(layout, flags); !text.empty()) {
      flags.give("pipeline-model-parallel-layout", layout, text);
    }
  }
  flags.give("virtual-pipeline-model-parallel-size", run.key("model", "virtual_pipeline_model_parallel_size"));
}

void apply_core_recomputation(RunSections& run) {
  FlagList& flags = run.flags();
  const std::string granularity = value_of(run.key("model", "recompute_granularity")).word.text;
  if (granularity == "full") {
    flags.give("recompute-method", run.key("model", "recompute_method"));
    flags.give("recompute-num-layers", run.key("model", "recompute_num_layers"));
  } else if (granularity == "selective") {
    flags.give("recompute-modules", run.key("model", "recompute_modules"));
  }
}

void apply_core_layout(RunSections& run) {
  apply_core_stages(run);
  apply_core_recomputation(run);
  set_sharded_optimizer(run);
}

}  // namespace ringwright::configs
