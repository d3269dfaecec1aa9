#include "core/config/config_merge.h"

#include <utility>

namespace ringwright {

ConfigNode merged(ConfigNode base, ConfigNode over) {
  const bool both_maps = base.kind == ConfigKind::kMap && over.kind == ConfigKind::kMap;
  if (!both_maps || has_provenance(base) || has_provenance(over)) return over;
  for (ConfigEntry& entry : over.entries) {
    if (ConfigEntry* below = find_entry(base, entry.key)) {
      below->value = merged(std::move(below->value), std::move(entry.value));
      below->read = below->read || entry.read;
    } else {
      base.entries.push_back(std::move(entry));
    }
  }
  over.entries = std::move(base.entries);
  return over;
}

void remove_key(ConfigNode& root, std::string_view path) {
  const std::size_t dot = path.find('.');
  if (dot == std::string_view::npos) {
    std::erase_if(root.entries, [path](const ConfigEntry& entry) { return entry.key == path; });
  } else if (ConfigEntry* entry = find_entry(root, path.substr(0, dot))) {
    remove_key(entry->value, path.substr(dot + 1));
  }
}

void forget_readers(ConfigNode& node) {
  node.asked.clear();
  node.settled = false;
  for (ConfigNode& item : node.items) forget_readers(item);
  for (ConfigEntry& entry : node.entries) forget_readers(entry.value);
}

}  // namespace ringwright
