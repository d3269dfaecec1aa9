#include "core/config/config_document.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/sha256.h"
#include "core/base/text.h"
#include "core/config/config_loader.h"
#include "core/config/config_merge.h"
#include "core/config/key_reading.h"
#include "core/config/yaml_writer.h"

namespace ringwright {
namespace {

// The typo may be in the word, or the word may be in the wrong section.
std::string suggestion(const ConfigNode& map, const std::string& path, const std::string& key, ConfigLog& log) {
  const std::string near = nearest_name(key, map.asked);
  if (!near.empty()) {
    const bool missing = log.explain_missing(path_below(path, near));
    return fmt::format("; did you mean '{}'{}?", near, missing ? ", which is missing" : "");
  }
  const std::string elsewhere = log.asked_path(key);
  return elsewhere.empty() ? elsewhere : fmt::format("; did you mean '{}'?", elsewhere);
}

void check_map(ConfigNode& map, const std::string& path, ConfigLog& log) {
  for (ConfigEntry& entry : map.entries) {
    if (entry.read && !entry.value.opened && entry.value.items.empty()) continue;
    const std::string entry_path = path_below(path, entry.key);
    if (!entry.read && !map.settled) {
      const std::string near = suggestion(map, path, entry.key, log);
      const bool list_them = near.empty() && !map.asked.empty();
      log.add(at_key(entry.value, "E102", fmt::format("unknown key '{}'{}", entry_path, near),
                     list_them ? "known here: " + join(map.asked, ", ") : std::string()));
    }
    if (!entry.read) continue;
    if (entry.value.opened) check_map(entry.value, entry_path, log);
    for (std::size_t i = 0; i < entry.value.items.size(); ++i) {
      ConfigNode& item = entry.value.items[i];
      if (item.opened) check_map(item, fmt::format("{}[{}]", entry_path, i), log);
    }
  }
}

using Sources = std::vector<std::unique_ptr<ConfigSource>>;

// 0 for a --set, then files in the order in which they were read: a file before what it extends.
std::size_t rank_of(const ConfigSource* source, const Sources& sources) {
  if (source == nullptr || source->kind == SourceKind::kPreset) return sources.size() + 1;
  if (source->kind == SourceKind::kOverride) return 0;
  const auto at = std::ranges::find(sources, source, [](const auto& one) { return one.get(); });
  return static_cast<std::size_t>(at - sources.begin()) + 1;
}

void add_stronger(const ConfigNode& node, const std::string& path, std::size_t rank, const Sources& sources,
                  std::vector<std::string>& keys) {
  if (node.kind == ConfigKind::kMap && !has_provenance(node)) {
    for (const ConfigEntry& entry : node.entries) {
      add_stronger(entry.value, path_below(path, entry.key), rank, sources, keys);
    }
  } else if (rank_of(node.source, sources) < rank) {
    keys.push_back(path);
  }
}

}  // namespace

ConfigDocument::ConfigDocument(LogMode mode)
    : root_(std::make_unique<ConfigNode>()), log_(std::make_unique<ConfigLog>(mode)) {
  root_->kind = ConfigKind::kMap;
  root_->opened = true;
}

Result<ConfigDocument> ConfigDocument::load(const std::string& path, const LoadOptions& options) {
  return ConfigLoader(options).load(path);
}

Result<ConfigDocument> ConfigDocument::load_text(const std::string& name, std::string_view text,
                                                 const LoadOptions& options) {
  return ConfigLoader(options).load_text(name, text);
}

bool ConfigDocument::names(std::string_view path) const {
  const ConfigNode* node = root_.get();
  while (node != nullptr && node->kind == ConfigKind::kMap) {
    const std::size_t dot = path.find('.');
    const ConfigEntry* const entry = find_entry(*node, path.substr(0, dot));
    if (entry == nullptr || dot == std::string_view::npos) return entry != nullptr;
    node = &entry->value;
    path.remove_prefix(dot + 1);
  }
  return false;
}

std::vector<std::string> ConfigDocument::stronger_than(std::string_view key) const {
  std::vector<std::string> keys;
  const ConfigEntry* const entry = find_entry(*root_, key);
  if (entry != nullptr) add_stronger(*root_, "", rank_of(entry->value.source, sources_), sources_, keys);
  return keys;
}

std::string ConfigDocument::content_sha256() const {
  std::string texts;
  for (const auto& source : sources_) texts += sha256(join(source->lines, "\n")) + "\n";
  return sha256(texts);
}

ConfigDocument ConfigDocument::changed(const ConfigChanges& changes, std::span<const std::string_view> outlined) const {
  const LoadOptions options{.overrides = changes.settings};
  ConfigDocument copy = ConfigLoader(options).change(without_readers(*root_, outlined), changes.removed);
  for (const ValueRead& file : imported_files_) copy.log_->add(file);
  copy.imported_files_ = imported_files_;
  return copy;
}

std::optional<ConfigDocument> named_document(ConfigMap& map, const Key<std::string>& key, Diagnostics& foreign) {
  const auto file = map.file(key);
  if (!file) return std::nullopt;
  auto document = ConfigDocument::load_text(file->path, file->text);
  if (!document) {
    for (const Diagnostic& problem : document.error().all()) foreign.add(problem);
    return std::nullopt;
  }
  if (document->sources().size() > 1) {
    const std::string with = fmt::format("{} files", document->sources().size());
    map.note_content(fmt::format("{}.extends", key.name), with, document->content_sha256());
  }
  return std::move(*document);
}

std::string ConfigDocument::yaml() const {
  return write_yaml(*root_, root_->source);
}

ConfigDocument ConfigDocument::for_documentation() {
  return ConfigDocument(LogMode::kDocumenting);
}

void ConfigDocument::check_all_read() {
  check_map(*root_, "", *log_);
}

}  // namespace ringwright
