// The tree side of ConfigMap: nested maps, locations, and what readers record about a key.
#include "core/config/config_map.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/config/config_log.h"
#include "core/config/config_node.h"
#include "core/config/key_reading.h"
#include "core/config/yaml_writer.h"

namespace ringwright {
namespace {

// The code of warnings that a key is without effect; the report lists such keys with all others of the kind.
constexpr std::string_view kWithoutEffect = "W131";

// "tp is 1" of "parallel.sequence_parallel has no effect: tp is 1".
std::string reason_in(std::string_view message, std::string_view path) {
  if (message.starts_with(path)) message.remove_prefix(std::min(path.size() + 1, message.size()));
  constexpr std::string_view kWords = "has no effect: ";
  if (message.starts_with(kWords)) message.remove_prefix(kWords.size());
  return std::string(message);
}

// Points at a key's value, or at the map when the key is not given.
Diagnostic about(const ConfigNode& map, std::string_view name, std::string code, std::string message,
                 std::string hint) {
  const ConfigEntry* entry = name.empty() ? nullptr : find_entry(map, name);
  if (entry != nullptr) return at_value(bare_value(entry->value), std::move(code), std::move(message), std::move(hint));
  if (map.key_line > 0) return at_key(map, std::move(code), std::move(message), std::move(hint));
  return at_value(map, std::move(code), std::move(message), std::move(hint));
}

}  // namespace

ConfigMap ConfigMap::map(std::string_view name, std::string_view doc) {
  Reading reading{*node_, *log_, path_, name};
  if (documenting()) {
    log_->add(KeyDoc{.path = reading.path(), .type = KeyType::kMap, .doc = std::string(doc), .fallback = {}});
    return {log_->absent_map(*node_), reading.path(), log_};
  }
  ConfigNode* value = take(reading);
  if (value == nullptr) return {log_->absent_map(*node_), reading.path(), log_};
  if (value->kind == ConfigKind::kMap) {
    value->opened = true;
    return {value, reading.path(), log_};
  }
  report(
      reading, *value, *value,
      value->kind == ConfigKind::kNull
          ? ScalarError{.code = "E113", .says = "has no value", .hint = "indent its keys below it, or remove the key"}
          : ScalarError{.code = "E105", .says = wrong_kind(describe(KeyType::kMap), *value)});
  return {log_->absent_map(*value), reading.path(), log_};
}

std::vector<ConfigMap> ConfigMap::maps(std::string_view name, std::string_view doc) {
  Reading reading{*node_, *log_, path_, name};
  if (documenting()) {
    log_->add(KeyDoc{.path = reading.path(), .type = KeyType::kMaps, .doc = std::string(doc), .fallback = {}});
    return {{log_->absent_map(*node_), reading.path() + "[]", log_}};
  }
  ConfigNode* value = take(reading);
  if (value == nullptr) return {};
  if (value->kind != ConfigKind::kList) {
    const bool none = value->kind == ConfigKind::kNull;
    report(reading, *value, *value,
           none ? ScalarError{.code = "E113", .says = "has no value", .hint = "an empty list is []"}
                : ScalarError{.code = "E105", .says = wrong_kind(describe(KeyType::kMaps), *value)});
    return {};
  }
  std::vector<ConfigMap> result;
  for (std::size_t i = 0; i < value->items.size(); ++i) {
    ConfigNode& item = value->items[i];
    const std::string path = fmt::format("{}[{}]", reading.path(), i);
    Reading inner{*node_, *log_, {}, path};
    if (item.kind != ConfigKind::kMap) {
      report(inner, item, item, {.code = "E105", .says = wrong_kind(describe(KeyType::kMap), item)});
      continue;
    }
    item.opened = true;
    result.emplace_back(&item, path, log_);
  }
  return result;
}

std::string ConfigMap::setting(std::string_view name) {
  Reading reading{*node_, *log_, path_, name};
  const ConfigNode* value = documenting() ? nullptr : take(reading);
  return value == nullptr ? std::string() : write_value(*value);
}

std::vector<std::string> ConfigMap::settings(std::string_view name) {
  Reading reading{*node_, *log_, path_, name};
  ConfigNode* value = documenting() ? nullptr : take(reading);
  std::vector<std::string> entries;
  if (value == nullptr) return entries;
  if (value->kind != ConfigKind::kList) {
    report(reading, *value, *value,
           ScalarError{.code = "E105",
                       .says = wrong_kind("a list", *value),
                       .hint = value->kind == ConfigKind::kScalar ? "write [" + summary(*value) + "]" : ""});
    return entries;
  }
  for (const ConfigNode& item : value->items) entries.push_back(write_value(item));
  return entries;
}

std::string ConfigMap::remark(std::string_view name) {
  Reading reading{*node_, *log_, path_, name};
  ConfigNode* value = documenting() ? nullptr : take(reading);
  const std::string* text = value == nullptr ? nullptr : scalar_text(reading, *value, KeyType::kText);
  return text == nullptr ? std::string() : *text;
}

bool ConfigMap::has(std::string_view name) const {
  return find_entry(*node_, name) != nullptr;
}

bool ConfigMap::has_map(std::string_view name) const {
  const ConfigEntry* const entry = find_entry(*node_, name);
  return entry != nullptr && bare_value(entry->value).kind == ConfigKind::kMap;
}

std::vector<std::string> ConfigMap::keys() const {
  if (documenting()) log_->mark_open(path_);
  std::vector<std::string> names;
  for (const ConfigEntry& entry : node_->entries) names.push_back(entry.key);
  return names;
}

void ConfigMap::ignore(std::string_view name, std::string_view why) {
  Reading reading{*node_, *log_, path_, name};
  ConfigNode* value = take(reading);
  if (value == nullptr) return;
  value->settled = true;
  log_->add(IgnoredKey{path_of(name), origin_of(*value), std::string(why)});
}

void ConfigMap::ignore_rest(std::string_view why) {
  if (documenting()) log_->mark_open(path_);
  for (ConfigEntry& entry : node_->entries) {
    if (entry.read) continue;
    entry.read = true;
    entry.value.settled = true;
    log_->add(IgnoredKey{path_of(entry.key), origin_of(entry.value), std::string(why)});
  }
}

void ConfigMap::warn_of_typos(std::string_view code) {
  constexpr int kMostEdits = 2;
  if (documenting()) return;
  for (const ConfigEntry& entry : node_->entries) {
    if (entry.read) continue;
    for (const std::string& asked : node_->asked) {
      if (has(asked) || edit_distance(entry.key, asked) > kMostEdits) continue;
      warn(entry.key, std::string(code),
           fmt::format("'{}' is not read; did you mean '{}'?", path_of(entry.key), asked));
      break;
    }
  }
}

void ConfigMap::pass_over_presets() {
  for (ConfigEntry& entry : node_->entries) {
    if (entry.read || entry.value.source == nullptr || entry.value.source->kind != SourceKind::kPreset) continue;
    entry.read = true;
    entry.value.settled = true;
  }
}

void ConfigMap::error(std::string_view name, std::string code, std::string message, std::string hint) {
  if (documenting() || log_->is_missing(path_of(name))) return;
  // What stands for a value that could not be read needs no further message, nor do defaults in such a map.
  const ConfigEntry* const entry = name.empty() ? nullptr : find_entry(*node_, name);
  if (entry != nullptr ? entry->value.settled : node_->settled) return;
  log_->add(about(*node_, name, std::move(code), std::move(message), std::move(hint)));
}

bool ConfigMap::any_errors() const {
  return log_->diagnostics().has_errors();
}

void ConfigMap::warn(std::string_view name, std::string code, std::string message, std::string hint) {
  if (documenting()) return;
  if (code == kWithoutEffect && has(name)) {
    log_->add(IgnoredKey{path_of(name), origin(name), reason_in(message, path_of(name))});
  }
  Diagnostic warning = about(*node_, name, std::move(code), std::move(message), std::move(hint));
  warning.severity = Severity::kWarning;
  log_->add(std::move(warning));
}

void ConfigMap::assume(std::string_view name, std::string_view value, std::string_view why) {
  if (documenting() || !records_reads()) return;
  log_->add(Assumption{path_of(name), std::string(value), std::string(why)});
}

void ConfigMap::note_content(std::string_view name, std::string_view text, std::string_view sha256) {
  if (documenting()) return;
  log_->add(ValueRead{.path = path_of(name),
                      .text = std::string(text),
                      .canonical = "sha256:" + std::string(sha256),
                      .origin = "content",
                      .source = {}});
}

void ConfigMap::note_values(std::string_view name, const ConfigLog& log) {
  if (documenting()) return;
  for (ValueRead value : log.values()) {
    value.path = path_of(name) + "." + value.path;
    log_->add(std::move(value));
  }
  for (IgnoredKey key : log.ignored()) {
    key.path = path_of(name) + "." + key.path;
    log_->add(std::move(key));
  }
}

std::string ConfigMap::origin(std::string_view name) const {
  const ConfigEntry* entry = find_entry(*node_, name);
  return entry == nullptr ? "default" : origin_of(entry->value);
}

Place ConfigMap::place(std::string_view name) const {
  const ConfigEntry* entry = find_entry(*node_, name);
  if (entry != nullptr) return place_of_value(bare_value(entry->value));
  return node_->key_line > 0 ? place_of_key(*node_) : place_of_value(*node_);
}

Evidence ConfigMap::evidence(std::string_view name) const {
  const ConfigEntry* entry = find_entry(*node_, name);
  return entry == nullptr ? Evidence::kAssumed : evidence_of(entry->value);
}

bool ConfigMap::documenting() const {
  return log_->documenting();
}
bool ConfigMap::records_reads() const {
  return log_->keeps_reads();
}

std::string ConfigMap::path_of(std::string_view name) const {
  return path_below(path_, name);
}

}  // namespace ringwright
