// Sources: github.com/NVIDIA/NeMo 2.0 to 2.4, nemo/lightning/pytorch/strategies/megatron_strategy.py,
// plugins/mixed_precision.py and callbacks/megatron_comm_overlap.py, from which Megatron-Bridge has its rules.
#include "configs/scenario/imports/hydra/recipe_file.h"

#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "configs/scenario/imports/hydra/bridge_keys.h"
#include "configs/scenario/imports/hydra/core_rules.h"
#include "configs/scenario/imports/hydra/nemo_keys.h"
#include "configs/scenario/imports/hydra/nemo_rules.h"
#include "configs/scenario/imports/hydra/section_reader.h"

namespace ringwright::configs {
namespace {

using enum KeyMeaning;

constexpr std::array kStrategyRows{
    KeyRow{"fsdp", kUnmodelled, "set parallel.fsdp or parallel.zero.stage in the scenario instead"},
    KeyRow{"ddp", kTogether, "use-distributed-optimizer"},
    KeyRow{"ddp_communication_hook", kUnmodelled, "gradients are reduced as they are"},
    KeyRow{"num_distributed_optimizer_instances"},
    KeyRow{"nccl_communicator_config_path", kUnmodelled, "channels are set in collectives.nccl"},
    KeyRow{"use_sharp", kUnmodelled, "name an in-switch algorithm in collectives instead"},
    KeyRow{"use_tp_pp_dp_mapping", kUnmodelled, "ranks are laid out as tp-cp-ep-dp-pp"},
};
// clang-format off
constexpr auto kIdleOfStrategy = std::to_array<std::string_view>({
    "ckpt_async_save", "ckpt_load_directly_on_device", "ckpt_load_main_params", "ckpt_load_optimizer",
    "ckpt_load_strictness", "ckpt_parallel_load", "ckpt_parallel_save", "ckpt_parallel_save_optim",
    "ckpt_parallel_save_within_dp", "ckpt_save_optimizer", "ckpt_save_pre_mcore_014", "ckpt_type",
    "cluster_environment",
    "data_sampler", "ddp_comm_state", "find_unused_parameters", "gradient_as_bucket_view", "lazy_init",
    "no_ddp_communication_hook",
    "parallel_devices", "parallelism", "process_group_backend", "progress_interval", "replace_progress_bar",
    "restore_config", "save_ckpt_format", "setup_optimizers", "store_optimizer_states", "timeout",
    "use_gloo_process_groups", "use_te_rng_tracker"});
// clang-format on
constexpr std::array kPluginRows{KeyRow{"precision", kTogether, "bf16"}};
constexpr std::array kSampleRows{
    KeyRow{"global_batch_size"},
    KeyRow{"micro_batch_size"},
    KeyRow{"seq_length", kTogether, "seq-length"},
    KeyRow{"rampup_batch_size", kUnmodelled, "the batch is data.global_batch_size from the first step"},
};
constexpr std::array kTrainerRows{
    KeyRow{"num_nodes", kTogether, "nnodes"},
    KeyRow{"devices", kTogether, "nproc-per-node"},
    KeyRow{"accumulate_grad_batches", kUnmodelled, "data.global_batch_size gives the microbatches", "1"},
};

// Tables by the names of their sections, of which the file has each at a place of its own.
std::span<const KeySection> recipe_sections() {
  static const auto kAll = [] {
    const auto of_bridge = [](std::string_view name) { return find_section(bridge_sections(), name); };
    return std::array{
        KeySection{.name = "config", .base = of_bridge("model")},
        KeySection{.name = "strategy", .rows = kStrategyRows, .idle = kIdleOfStrategy, .base = of_bridge("model")},
        KeySection{.name = "ddp", .base = of_bridge("ddp")},
        KeySection{.name = "optimizer", .base = of_bridge("optimizer")},
        KeySection{.name = "plugins", .rows = kPluginRows, .base = of_bridge("mixed_precision")},
        KeySection{.name = "callback", .base = of_bridge("comm_overlap")},
        KeySection{.name = "data", .rows = kSampleRows, .all_idle = true},
        KeySection{.name = "trainer", .rows = kTrainerRows, .all_idle = true},
    };
  }();
  return kAll;
}

std::string_view target_of(const ConfigNode& map) {
  const ConfigEntry* const target = find_entry(map, "_target_");
  return target == nullptr ? std::string_view() : std::string_view(target->value.text);
}

class RecipeReader {
 public:
  RecipeReader(SectionReader& reader, RunSections& run) : reader_(reader), run_(run) {}

  // Reads the map there as a section of Megatron-Bridge's, by a table.
  const ConfigNode* read(const ConfigNode* map, const std::string& path, std::string_view table,
                         std::string_view section) {
    if (map == nullptr) return nullptr;
    run_.add(section, *map, path);
    reader_.read(table, *map, path);
    return map;
  }

 private:
  SectionReader& reader_;
  RunSections& run_;
};

// One of a list of callbacks or plugins, or the only one.
struct Listed {
  const ConfigNode* map = nullptr;
  std::string path;
};
Listed listed(const ConfigNode& trainer, std::string_view name, std::string_view kind) {
  const ConfigEntry* const entry = find_entry(trainer, name);
  const std::string path = fmt::format("trainer.{}", name);
  if (entry == nullptr) return {};
  if (target_of(entry->value).ends_with(kind)) return {.map = &entry->value, .path = path};
  for (std::size_t i = 0; i < entry->value.items.size(); ++i) {
    const ConfigNode& item = entry->value.items[i];
    if (target_of(item).ends_with(kind)) return {.map = &item, .path = fmt::format("{}.{}", path, i)};
  }
  return {};
}

void read_trainer(const ConfigNode& trainer, RecipeReader& reader) {
  reader.read(&trainer, "trainer", "trainer", "trainer");
  const std::string strategy = "trainer.strategy";
  if (const ConfigNode* const map = reader.read(map_below(trainer, "strategy"), strategy, "strategy", "model")) {
    reader.read(map_below(*map, "ddp"), strategy + ".ddp", "ddp", "ddp");
  }
  const Listed plugin = listed(trainer, "plugins", "MixedPrecision");
  reader.read(plugin.map, plugin.path, "plugins", "mixed_precision");
  const Listed callback = listed(trainer, "callbacks", "MegatronCommOverlapCallback");
  reader.read(callback.map, callback.path, "callback", "comm_overlap");
}

void report_adapters_of(const ConfigNode& root, FlagList& flags) {
  const HydraKey key = key_below(root, "model_transform", "");
  if (is_given(key)) flags.warn(key, "W136", "model_transform is not modelled: all weights are trained");
}

}  // namespace

bool is_recipe_file(const ConfigNode& root) {
  const ConfigNode* const trainer = map_below(root, "trainer");
  return target_of(root).starts_with("nemo.") || (trainer != nullptr && (map_below(*trainer, "strategy") != nullptr ||
                                                                         target_of(*trainer).starts_with("nemo.")));
}

MegatronText read_recipe_file(const ConfigNode& root, const ConfigSource& source, Diagnostics& problems) {
  FlagList flags(source, problems);
  RunSections run(flags);
  SectionReader sections(recipe_sections(), flags);
  RecipeReader reader(sections, run);
  if (const ConfigNode* const model = map_below(root, "model")) {
    reader.read(map_below(*model, "config"), "model.config", "config", "model");
  }
  if (const ConfigNode* const optimizer = map_below(root, "optim")) {
    reader.read(map_below(*optimizer, "config"), "optim.config", "optimizer", "optimizer");
  }
  reader.read(map_below(root, "data"), "data", "data", "dataset");
  if (const ConfigNode* const trainer = map_below(root, "trainer")) read_trainer(*trainer, reader);
  sections.report_unused();
  report_adapters_of(root, flags);
  apply_core_model(run);
  apply_core_layout(run);
  apply_nemo_type(run, run.key("mixed_precision", "precision"));
  apply_mixed_precision(run, {});
  apply_overlap(run);
  apply_nemo_machine(run);
  for (const KeySection& section : recipe_sections()) flags.name(section);
  return flags.take(MegatronSpelling::kNemo);
}

}  // namespace ringwright::configs
