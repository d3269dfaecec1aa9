#include "core/config/replaced_parts.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "core/config/config_merge.h"
#include "core/config/yaml_reader.h"

namespace ringwright {
namespace {

// "cluster.preset=NAME", "cluster=NAME" or "cluster={preset: NAME, ...}".
bool names_preset(std::string_view setting, std::string_view map) {
  const std::size_t equals = setting.find('=');
  if (equals == std::string_view::npos) return false;
  const std::string_view path = setting.substr(0, equals);
  if (path == fmt::format("{}.preset", map)) return true;
  if (path != map) return false;
  ConfigSource source;
  source.lines = {std::string(setting)};
  Diagnostics reported_later;  // when the override is applied
  const auto value = read_override_value(setting.substr(equals + 1), equals + 1, source, reported_later);
  return value && (value->kind == ConfigKind::kScalar || find_entry(*value, "preset") != nullptr);
}

}  // namespace

void remove_replaced_parts(ConfigNode& root, std::span<const PresetRule> rules, std::span<const std::string> overrides,
                           Diagnostics& problems) {
  for (const PresetRule& rule : rules) {
    if (rule.parts.empty()) continue;
    ConfigEntry* const map = find_entry(root, rule.path);
    if (map == nullptr || find_entry(map->value, "preset") != nullptr) continue;
    const auto names = [&rule](const std::string& setting) { return names_preset(setting, rule.path); };
    if (std::ranges::none_of(overrides, names)) continue;
    for (const std::string& part : rule.parts) {
      const ConfigEntry* const stated = find_entry(map->value, part);
      if (stated == nullptr) continue;
      Diagnostic warning = at_key(stated->value, "W593",
                                  fmt::format("'{}.{}' is replaced by the preset that --set names", rule.path, part),
                                  fmt::format("to keep some of it, set its keys as well: --set {}.{}.KEY=VALUE",
                                              rule.path, part));
      warning.severity = Severity::kWarning;
      problems.add(std::move(warning));
      remove_key(map->value, part);
    }
  }
}

}  // namespace ringwright
