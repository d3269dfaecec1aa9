#include "configs/scenario/imports/megatron/megatron_import.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "configs/scenario/imports/megatron/megatron_checks.h"
#include "configs/scenario/imports/megatron/megatron_flags.h"
#include "configs/scenario/imports/megatron/megatron_layout_rules.h"
#include "configs/scenario/imports/megatron/megatron_model_rules.h"
#include "configs/scenario/imports/megatron/megatron_tree.h"
#include "core/base/text.h"

namespace ringwright::configs {
namespace {

void import_plain(const FlagEntry& entry, const MegatronFlag& flag, const MegatronArguments& arguments,
                  MegatronTree& tree) {
  switch (entry.meaning) {
    case FlagMeaning::kNumber:
      if (arguments.number(flag.name)) tree.set(entry.key, *arguments.value(flag.name));
      return;
    case FlagMeaning::kText:
      if (const auto word = arguments.value(flag.name)) tree.set(entry.key, *word);
      return;
    case FlagMeaning::kOn: return tree.set(entry.key, flag.at, "true");
    case FlagMeaning::kOff: return tree.set(entry.key, flag.at, "false");
    case FlagMeaning::kNotModelled:
      return arguments.warn(flag.at, "W136", fmt::format("--{} is not modelled: {}", flag.name, entry.key));
    case FlagMeaning::kRule:
    case FlagMeaning::kNoEffect: return;
  }
}

// A log prints every argument there is: unknown ones are reported together.
void tell_unknown(const std::vector<const MegatronFlag*>& unknown, const MegatronArguments& arguments) {
  if (unknown.empty()) return;
  if (arguments.spelling() == MegatronSpelling::kArguments) {
    std::string names;
    for (const MegatronFlag* flag : unknown) names += (names.empty() ? "" : ", ") + flag->name;
    return arguments.warn(unknown.front()->at, "W135",
                          fmt::format("{} arguments of the log are unknown and left out: {}", unknown.size(), names));
  }
  const std::vector<std::string> names = megatron_flag_names();
  for (const MegatronFlag* flag : unknown) {
    const std::string near = nearest_name(flag->name, names);
    arguments.warn(flag->at, "W135", fmt::format("--{} is unknown and left out", flag->name),
                   near.empty() ? std::string() : fmt::format("did you mean --{}?", near));
  }
}

// A log also prints flags that were not given: Adam is the default, and False and None have no effect.
bool is_default(const FlagEntry& entry, const MegatronFlag& flag) {
  if (entry.meaning != FlagMeaning::kNotModelled || flag.values.empty()) return false;
  const std::string& text = flag.values.front().text;
  return entry.name == "optimizer" && text == "adam";
}

}  // namespace

std::optional<ConfigNode> import_megatron(std::string_view text, ConfigSource& source, Diagnostics& problems) {
  return import_flags(read_megatron_text(text, source, problems), source, problems);
}

std::optional<ConfigNode> import_flags(MegatronText words, const ConfigSource& source, Diagnostics& problems) {
  if (words.flags.empty()) return std::nullopt;
  const MegatronArguments arguments(std::move(words), source, problems);
  MegatronTree tree(source, arguments.spelling());
  std::vector<const MegatronFlag*> unknown;
  for (const auto& [name, flag] : arguments.all()) {
    const FlagEntry* entry = find_megatron_flag(name);
    if (entry == nullptr) {
      unknown.push_back(&flag);
    } else if (arguments.has(name) && !is_default(*entry, flag)) {
      import_plain(*entry, flag, arguments, tree);
    }
  }
  check_megatron(arguments);
  apply_model_rules(arguments, tree);
  apply_training_rules(arguments, tree);
  apply_parallel_rules(arguments, tree);
  apply_machine_rules(arguments, tree);
  tell_unknown(unknown, arguments);
  if (is_of_keys(arguments.spelling()) && !arguments.has("hidden-size")) tree.leave_out_assumptions();
  return tree.take();
}

}  // namespace ringwright::configs
