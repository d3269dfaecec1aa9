#include "configs/scenario/imports/hydra/bridge_file.h"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "configs/scenario/imports/hydra/bridge_keys.h"
#include "configs/scenario/imports/hydra/core_rules.h"
#include "configs/scenario/imports/hydra/run_sections.h"
#include "configs/scenario/imports/hydra/section_reader.h"
#include "core/base/text.h"

namespace ringwright::configs {
namespace {

constexpr std::string_view kWhole = "ConfigContainer";
constexpr std::string_view kAdapters = "peft";

// Early versions called the sections model_config, train_config and so on.
std::string section_name(std::string_view key) {
  constexpr std::string_view kEnd = "_config";
  const bool is_old = key.ends_with(kEnd);
  return std::string(is_old ? key.substr(0, key.size() - kEnd.size()) : key);
}

void report_unknown_section(const HydraKey& key, FlagList& flags) {
  if (value_of(key).kind == HydraKind::kNothing) return;
  std::vector<std::string> names;
  for (const KeySection& section : bridge_sections()) names.emplace_back(section.name);
  const std::string near = nearest_name(key.path, names);
  flags.warn_unknown(key, near);
}

// What is a word or a list where a map of keys is expected.
void read_word_section(std::string_view name, const HydraKey& key, FlagList& flags) {
  if (value_of(key).kind == HydraKind::kNothing || name == "mixed_precision") return;
  flags.error(key, fmt::format("{} is '{}'; a map of keys is expected", key.path, value_of(key).word.text));
}

void read_sections(const ConfigNode& map, const std::string& path, SectionReader& reader, RunSections& run) {
  for (const ConfigEntry& entry : map.entries) {
    const std::string name = section_name(entry.key);
    const HydraKey key{.path = path.empty() ? entry.key : path + "." + entry.key, .node = &entry.value};
    if (entry.key.starts_with('_') || name == kAdapters) continue;
    if (find_section(bridge_sections(), name) == nullptr) {
      report_unknown_section(key, run.flags());
    } else if (entry.value.kind == ConfigKind::kMap) {
      run.add(name, entry.value, key.path);
      reader.read(name, entry.value, key.path);
    } else {
      read_word_section(name, key, run.flags());
    }
  }
}

void report_adapters(const HydraKey& key, FlagList& flags) {
  if (value_of(key).kind == HydraKind::kNothing) return;
  flags.warn(key, "W136", fmt::format("{} is not modelled: all weights are trained", key.path));
}

}  // namespace

MegatronText read_bridge_file(const ConfigNode& root, const ConfigSource& source, Diagnostics& problems) {
  FlagList flags(source, problems);
  RunSections run(flags);
  SectionReader reader(bridge_sections(), flags);
  const ConfigNode* const whole = map_below(root, kWhole);
  const ConfigNode& container = whole == nullptr ? root : *whole;
  const std::string path = whole == nullptr ? std::string() : std::string(kWhole);
  read_sections(container, path, reader, run);
  if (whole != nullptr) {
    for (const ConfigEntry& entry : root.entries) {
      if (entry.key != kWhole) report_unknown_section({.path = entry.key, .node = &entry.value}, flags);
    }
  }
  reader.report_unused();
  report_adapters(key_below(container, kAdapters, path), flags);
  apply_core_model(run);
  apply_core_layout(run);
  apply_mixed_precision(run, key_below(container, "mixed_precision", path));
  apply_overlap(run);
  for (const KeySection& section : bridge_sections()) flags.name(section);
  return flags.take(MegatronSpelling::kBridge);
}

}  // namespace ringwright::configs
