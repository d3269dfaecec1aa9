// Files in foreign formats that a map names: their content becomes keys of the map.
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "core/config/config_loader.h"
#include "core/config/config_merge.h"
#include "core/config/key_reading.h"
#include "core/config/yaml_reader.h"

namespace ringwright {

void ConfigLoader::apply_imports(ConfigNode& node, const std::string& path) {
  for (const ImportRule& rule : options_.imports) {
    if (rule.path == path && find_entry(node, rule.key) != nullptr) apply_import(node, rule);
  }
}

void ConfigLoader::note_import(const std::string& key, const ConfigNode& wanted, const InputFile& file) {
  ValueRead value{.path = key,
                  .text = std::filesystem::path(file.path).filename().string(),
                  .canonical = content_mark(file.text),
                  .origin = origin_of(wanted),
                  .source = {}};
  document_.log_->add(value);
  document_.imported_files_.push_back(std::move(value));
}

void ConfigLoader::apply_import(ConfigNode& node, const ImportRule& rule) {
  ConfigEntry* entry = find_entry(node, rule.key);
  entry->read = true;
  const ConfigNode wanted = entry->value;
  const bool has_preset = find_entry(node, "preset") != nullptr;
  const auto tell = [&](Severity severity, std::string message) {
    problems_.add({.severity = severity,
                   .code = "E116",
                   .place = {.file = wanted.source == nullptr ? std::string() : wanted.source->name,
                             .line = wanted.line,
                             .column = wanted.column},
                   .message = std::move(message)});
  };
  if (wanted.kind != ConfigKind::kScalar || wanted.text.empty()) {
    return tell(Severity::kError, fmt::format("'{}.{}' must be the path of one file", rule.path, rule.key));
  }
  const std::string path = path_relative_to(wanted, wanted.text);
  const InputFile file = read_input_file(path);
  if (!file.problem.empty()) {
    problems_.add(
        at_value(wanted, "E100", fmt::format("cannot read '{}': {}", path, file.problem), did_you_mean_file(path)));
    node.settled = true;
    return;
  }
  note_import(rule.path + "." + rule.key, wanted, file);
  auto imported = rule.read(file);
  if (!imported) {
    for (const Diagnostic& problem : imported.error().all()) problems_.add(problem);
    node.settled = true;
    return;
  }
  const std::string name = std::filesystem::path(path).filename().string();
  for (const std::string& note : imported->notes) tell(Severity::kWarning, fmt::format("{}: {}", name, note));
  const auto read = [&](const std::string& text, std::string_view what) {
    ConfigSource& source = add_source(fmt::format("{} ({})", name, what), SourceKind::kPreset, path);
    return read_source(source, text, {}, rule.path);
  };
  if (auto facts = read(imported->facts, "facts")) node = merged(std::move(*facts), std::move(node));
  if (has_preset) return;
  if (auto guesses = read(imported->guesses, "guesses")) node = merged(std::move(*guesses), std::move(node));
}

}  // namespace ringwright
