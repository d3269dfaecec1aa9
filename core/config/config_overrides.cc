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

// The value of "a.b.c=4", at the columns of the argument.
std::optional<ConfigNode> override_value(std::string_view argument, ConfigSource& source, Diagnostics& problems) {
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
  const auto dot = path.rfind('.');
  const std::size_t start = dot == std::string_view::npos ? 0 : dot + 1;
  value->key_line = 1;
  value->key_column = static_cast<int>(start) + 1;
  value->key_length = static_cast<int>(path.size() - start);
  if (value->line == 0) std::tie(value->line, value->column) = std::pair(1, value->key_column);
  return value;
}

}  // namespace

ConfigNode ConfigLoader::with_imports(ConfigNode root) {
  for (const ImportedValue& value : options_.imported) {
    ConfigSource& source = add_source(value.origin, SourceKind::kOverride, "");
    auto imported = override_value(value.setting, source, problems_);
    if (!imported) continue;
    const std::size_t equals = value.setting.find('=');
    const std::string path = value.setting.substr(0, equals);
    name_presets(*imported, options_.presets, path);
    if (const ConfigNode* given = find_below(root, path)) {
      const std::string said = value.setting.substr(equals + 1);
      if (same_value(summary(bare_value(*given)), said)) continue;
      problems_.add(
          at_value(*given, "E115",
                   fmt::format("{} is {}, but {} sets {}", path, summary(bare_value(*given)), value.origin, said),
                   "remove one of them, or make them agree"));
      continue;
    }
    merge_at(root, path, std::move(*imported));
  }
  return root;
}

ConfigNode ConfigLoader::with_overrides(ConfigNode root) {
  for (std::size_t i = 0; i < options_.overrides.size(); ++i) {
    ConfigSource& source = add_source("--set:" + std::to_string(i + 1), SourceKind::kOverride, "");
    auto over = override_value(options_.overrides[i], source, problems_);
    if (!over) continue;
    const std::string path = options_.overrides[i].substr(0, options_.overrides[i].find('='));
    name_presets(*over, options_.presets, path);
    const bool empty_map = over->kind == ConfigKind::kMap && over->entries.empty();
    const ConfigNode* const given = empty_map ? find_below(root, path) : nullptr;
    if (given != nullptr && !given->entries.empty()) {
      problems_.add(at_value(*over, "E114", fmt::format("'{}' is an empty map, which changes nothing", path),
                             "maps are merged: name the keys to change, or take them out of the file"));
      continue;
    }
    merge_at(root, path, std::move(*over));
  }
  return root;
}

}  // namespace ringwright
