#include "configs/scenario/imports/hydra/nemo_file.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "configs/scenario/imports/hydra/bridge_keys.h"
#include "configs/scenario/imports/hydra/nemo_keys.h"
#include "configs/scenario/imports/hydra/nemo_rules.h"
#include "configs/scenario/imports/hydra/section_reader.h"
#include "core/base/text.h"

namespace ringwright::configs {
namespace {

constexpr std::array<std::string_view, 5> kIdleWords{"name", "restore_from_path", "cluster_type",
                                                     "launcher_scripts_path", "base_results_dir"};

// A variable of the file's own: others refer to it.
bool is_referred_to(std::string_view name, const ConfigSource& source) {
  const std::string written = fmt::format("${{{}}}", name);
  return std::ranges::any_of(source.lines,
                             [&](const std::string& line) { return line.find(written) != std::string::npos; });
}

// "- _self_" names this file; the others are composed with it.
void report_other_files(const HydraKey& key, FlagList& flags) {
  for (const ConfigNode& item : key.node->items) {
    if (item.kind == ConfigKind::kScalar && item.text == "_self_") continue;
    const std::string name = item.entries.empty() ? item.text : item.entries.front().key;
    flags.warn({.path = key.path, .node = &item}, "W136",
               fmt::format("{} names '{}': other files are not read", key.path, name),
               "run with --cfg job --resolve prints the whole configuration");
  }
}

void report_unknown_part(const HydraKey& key, FlagList& flags, const ConfigSource& source) {
  if (!is_given(key) || std::ranges::find(kIdleWords, key.path) != kIdleWords.end()) return;
  if (is_referred_to(key.path, source)) return;
  std::vector<std::string> names;
  for (const KeySection& section : nemo_sections()) names.emplace_back(section.name);
  const std::string near = nearest_name(key.path, names);
  flags.warn_unknown(key, near);
}

void read_part(std::string_view name, const HydraKey& key, SectionReader& reader, RunSections& run) {
  if (key.node == nullptr || key.node->kind != ConfigKind::kMap) return;
  run.add(name, *key.node, key.path);
  reader.read(name, *key.node, key.path);
}

// Keys of Megatron-Core's configuration of the model.
void read_overwritten(const HydraKey& key, RunSections& run) {
  if (key.node == nullptr) return;
  run.add("model", *key.node, key.path);
  for (const ConfigEntry& entry : key.node->entries) {
    const HydraKey own{.path = key.path + "." + entry.key, .node = &entry.value};
    if (const KeyRow* const row = find_row(bridge_sections()[0], entry.key)) {
      run.flags().take_row(*row, own);
    } else {
      run.flags().warn_unknown(own, {});
    }
  }
}

void read_parts(const ConfigNode& root, const ConfigSource& source, SectionReader& reader, RunSections& run) {
  for (const ConfigEntry& entry : root.entries) {
    const HydraKey key{.path = entry.key, .node = &entry.value};
    if (entry.key == "defaults") {
      report_other_files(key, run.flags());
    } else if (find_section(nemo_sections(), entry.key) == nullptr) {
      report_unknown_part(key, run.flags(), source);
    } else if (entry.value.kind == ConfigKind::kMap) {
      read_part(entry.key, key, reader, run);
    } else if (is_given(key)) {
      run.flags().error(key, fmt::format("{} is '{}'; a map of keys is expected", key.path, value_of(key).word.text));
    }
  }
  const ConfigNode* const model = map_below(root, "model");
  if (model == nullptr) return;
  for (const char* name : {"optim", "data", "tokenizer"}) {
    read_part(name, key_below(*model, name, "model"), reader, run);
  }
  read_overwritten(key_below(*model, "overwritten_attributes", "model"), run);
}

// Keys of Megatron-Core's configuration that work together with others there, and that no rule of NeMo reads.
void report_unread(RunSections& run) {
  const KeySection& own = *find_section(nemo_sections(), "model");
  const KeySection own_alone{.name = own.name, .rows = own.rows, .idle = own.idle};
  for (const HydraKey& key : run.unread("model")) {
    const std::string name = key.path.substr(key.path.rfind('.') + 1);
    const KeyRow* const row = find_row(bridge_sections()[0], name);
    if (row == nullptr || row->meaning != KeyMeaning::kTogether || find_row(own_alone, name) != nullptr) continue;
    run.flags().warn_unknown(key, {});
  }
}

}  // namespace

MegatronText read_nemo_file(const ConfigNode& root, const ConfigSource& source, Diagnostics& problems) {
  FlagList flags(source, problems);
  RunSections run(flags);
  SectionReader reader(nemo_sections(), flags);
  read_parts(root, source, reader, run);
  reader.report_unused();
  apply_nemo_model(run);
  apply_nemo_precision(run);
  apply_nemo_recomputation(run);
  apply_nemo_optimizer(run);
  apply_nemo_overlap(run);
  apply_nemo_machine(run);
  report_unread(run);
  for (const KeySection& section : nemo_sections()) flags.name(section);
  return flags.take(MegatronSpelling::kNemo);
}

}  // namespace ringwright::configs
