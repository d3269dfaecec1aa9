#include "core/config/config_merge.h"

#include <algorithm>
#include <utility>

namespace ringwright {
namespace {

constexpr std::string_view kValueKey = "value";  // of a value in its long form

}  // namespace

void merge(ConfigNode& base, ConfigNode over) {
  const bool both_maps = base.kind == ConfigKind::kMap && over.kind == ConfigKind::kMap;
  if (both_maps && !has_provenance(base) && !has_provenance(over)) {
    for (ConfigEntry& entry : over.entries) {
      if (ConfigEntry* below = find_entry(base, entry.key)) {
        merge(below->value, std::move(entry.value));
        below->read = below->read || entry.read;
      } else {
        base.entries.push_back(std::move(entry));
      }
    }
    over.entries = std::move(base.entries);
  }
  base = std::move(over);
}

ConfigNode merged(ConfigNode base, ConfigNode over) {
  merge(base, std::move(over));
  return base;
}

void merge_at(ConfigNode& root, std::string_view path, ConfigNode value) {
  const ConfigSource* const file = root.source;  // the document keeps the location of its file
  const bool settled = root.settled;
  ConfigNode* node = &root;
  ConfigNode place;  // of the key that names the node
  for (std::size_t start = 0, dot = 0; dot != std::string_view::npos; start = dot + 1) {
    dot = path.find('.', start);
    const std::string_view key = path.substr(start, dot - start);
    const bool joins = node->kind == ConfigKind::kMap && !has_provenance(*node) && key != kValueKey;
    ConfigNode map = place;
    map.kind = ConfigKind::kMap;
    map.source = value.source;
    map.line = 1;
    map.column = static_cast<int>(start) + 1;
    if (joins) map.entries = std::move(node->entries);
    *node = std::move(map);
    ConfigEntry* entry = find_entry(*node, key);
    if (entry == nullptr) {
      entry = &node->entries.emplace_back();
      entry->key = key;
    }
    node = &entry->value;
    place.key_line = 1;
    place.key_column = static_cast<int>(start) + 1;
    place.key_length = static_cast<int>(key.size());
  }
  merge(*node, std::move(value));
  root.source = file;
  root.settled = settled;
}

void remove_key(ConfigNode& root, std::string_view path) {
  const std::size_t dot = path.find('.');
  if (dot == std::string_view::npos) {
    std::erase_if(root.entries, [path](const ConfigEntry& entry) { return entry.key == path; });
  } else if (ConfigEntry* entry = find_entry(root, path.substr(0, dot))) {
    remove_key(entry->value, path.substr(dot + 1));
  }
}

namespace {

ConfigNode without_content(const ConfigNode& node) {
  ConfigNode copy;
  copy.kind = node.kind;
  copy.text = node.text;
  copy.quoted = node.quoted;
  copy.source = node.source;
  copy.line = node.line;
  copy.column = node.column;
  copy.length = node.length;
  copy.key_line = node.key_line;
  copy.key_column = node.key_column;
  copy.key_length = node.key_length;
  copy.opened = node.opened;
  return copy;
}

ConfigNode outline_of(const ConfigNode& map) {
  ConfigNode copy = without_content(map);
  for (const ConfigEntry& entry : map.entries) {
    copy.entries.push_back({.key = entry.key, .value = without_content(entry.value), .read = entry.read});
  }
  return copy;
}

}  // namespace

ConfigNode without_readers(const ConfigNode& node, std::span<const std::string_view> outlined) {
  ConfigNode copy = without_content(node);
  copy.items.reserve(node.items.size());
  for (const ConfigNode& item : node.items) copy.items.push_back(without_readers(item));
  copy.entries.reserve(node.entries.size());
  for (const ConfigEntry& entry : node.entries) {
    const bool outline = std::ranges::find(outlined, entry.key) != outlined.end();
    copy.entries.push_back({.key = entry.key,
                            .value = outline ? outline_of(entry.value) : without_readers(entry.value),
                            .read = entry.read});
  }
  return copy;
}

}  // namespace ringwright
