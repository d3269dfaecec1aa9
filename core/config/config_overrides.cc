// The part of the loader that merges single values into a document: those of --set, and of files that it names.
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/config/config_loader.h"
#include "core/config/config_merge.h"
#include "core/config/named_presets.h"
#include "core/config/scalar.h"
#include "core/config/yaml_reader.h"

namespace ringwright {
namespace {

// The value at a dotted path; null when it is not given.
const ConfigNode* find_below(const ConfigNode& root, std::string_view path) {
  const ConfigNode* node = &root;
  while (true) {
    const std::size_t dot = path.find('.');
    const ConfigEntry* entry = find_entry(*node, path.substr(0, dot));
    if (entry == nullptr) return nullptr;
    node = &entry->value;
    if (dot == std::string_view::npos) return node;
    path.remove_prefix(dot + 1);
  }
}

// 5e8 and 500000000 are one value.
bool same_value(std::string_view a, std::string_view b) {
  if (a == b) return true;
  const auto x = read_number(a);
  const auto y = read_number(b);
  return x && y && std::abs(*x - *y) <= 1e-12 * std::abs(*x);
}

// "a.b.c=4" as the map {a: {b: {c: 4}}}, every key at its column in the argument.
std::optional<ConfigNode> override_tree(std::string_view argument, ConfigSource& source, Diagnostics& problems) {
  source.lines = {std::string(argument.substr(0, argument.find('\n')))};
  ConfigNode whole;
  whole.source = &source;
  whole.line = 1;
  whole.column = 1;
  const auto equals = argument.find('=');
  const std::string_view path = argument.substr(0, equals);
  const bool bad_path = path.empty() || path.front() == '.' || path.back() == '.' ||
                        path.find("..") != std::string_view::npos ||
                        path.find_first_of(" []{}") != std::string_view::npos;
  if (equals == std::string_view::npos || bad_path) {
    problems.add(at_value(whole, "E114", fmt::format("cannot set '{}'", argument),
                          "write --set key.below.key=value; list entries cannot be set one by one"));
    return std::nullopt;
  }
  auto value = read_override_value(argument.substr(equals + 1), equals + 1, source, problems);
  if (!value) return std::nullopt;
  std::size_t end = path.size();
  while (true) {
    const auto dot = path.substr(0, end).rfind('.');
    const std::size_t start = dot == std::string_view::npos ? 0 : dot + 1;
    const std::string_view key = path.substr(start, end - start);
    value->key_line = 1;
    value->key_column = static_cast<int>(start) + 1;
    value->key_length = static_cast<int>(key.size());
    if (value->line == 0) std::tie(value->line, value->column) = std::pair(1, value->key_column);
    ConfigNode map;
    map.kind = ConfigKind::kMap;
    map.source = &source;
    map.line = 1;
    map.column = value->key_column;
    ConfigEntry& entry = map.entries.emplace_back();
    entry.key = key;
    entry.value = std::move(*value);
    *value = std::move(map);
    if (start == 0) return value;
    end = dot;
  }
}

}  // namespace

ConfigNode ConfigLoader::with_imports(ConfigNode root) {
  for (const ImportedValue& value : options_.imported) {
    ConfigSource& source = add_source(value.origin, SourceKind::kOverride, "");
    auto tree = override_tree(value.setting, source, problems_);
    if (!tree) continue;
    name_presets(*tree, options_.presets, "");
    const std::size_t equals = value.setting.find('=');
    const std::string path = value.setting.substr(0, equals);
    if (const ConfigNode* given = find_below(root, path)) {
      const std::string said = value.setting.substr(equals + 1);
      if (same_value(summary(bare_value(*given)), said)) continue;
      problems_.add(
          at_value(*given, "E115",
                   fmt::format("{} is {}, but {} sets {}", path, summary(bare_value(*given)), value.origin, said),
                   "remove one of them, or make them agree"));
      continue;
    }
    tree->source = root.source;
    tree->settled = root.settled;
    root = merged(std::move(root), std::move(*tree));
  }
  return root;
}

ConfigNode ConfigLoader::with_overrides(ConfigNode root) {
  for (std::size_t i = 0; i < options_.overrides.size(); ++i) {
    ConfigSource& source = add_source("--set:" + std::to_string(i + 1), SourceKind::kOverride, "");
    auto tree = override_tree(options_.overrides[i], source, problems_);
    if (!tree) continue;
    name_presets(*tree, options_.presets, "");
    const std::string_view path = std::string_view(options_.overrides[i]).substr(0, options_.overrides[i].find('='));
    const ConfigNode* const over = find_below(*tree, path);
    const bool empty_map = over->kind == ConfigKind::kMap && over->entries.empty();
    const ConfigNode* const given = empty_map ? find_below(root, path) : nullptr;
    if (given != nullptr && !given->entries.empty()) {
      problems_.add(at_value(*over, "E114", fmt::format("'{}' is an empty map, which changes nothing", path),
                             "maps are merged: name the keys to change, or take them out of the file"));
      continue;
    }
    // The document keeps the location of its file.
    tree->source = root.source;
    tree->settled = root.settled;
    merge(root, std::move(*tree));
  }
  return root;
}

}  // namespace ringwright
