#include "core/config/named_presets.h"

#include <algorithm>
#include <utility>

namespace ringwright {
namespace {

ConfigNode map_with_preset(ConfigNode name) {
  ConfigNode map;
  map.kind = ConfigKind::kMap;
  map.source = name.source;
  map.line = name.line;
  map.column = name.column;
  map.length = name.length;
  map.key_line = std::exchange(name.key_line, name.line);
  map.key_column = std::exchange(name.key_column, name.column);
  map.key_length = std::exchange(name.key_length, name.length);
  map.entries.push_back({.key = "preset", .value = std::move(name)});
  return map;
}

}  // namespace

void name_presets(ConfigNode& node, std::span<const PresetRule> rules, const std::string& path) {
  const auto here = [&path](const PresetRule& rule) { return !path.empty() && rule.path == path; };
  if (node.kind == ConfigKind::kScalar) {
    if (std::ranges::any_of(rules, here)) node = map_with_preset(std::move(node));
    return;
  }
  // Nothing below is named by a rule.
  const auto below = [&path](const PresetRule& rule) { return rule.path.starts_with(path); };
  if (std::ranges::none_of(rules, below)) return;
  for (ConfigNode& item : node.items) name_presets(item, rules, path + "[]");
  for (ConfigEntry& entry : node.entries) {
    name_presets(entry.value, rules, path.empty() ? entry.key : path + "." + entry.key);
  }
}

}  // namespace ringwright
