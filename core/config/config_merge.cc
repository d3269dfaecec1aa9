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

}  // namespace ringwright
