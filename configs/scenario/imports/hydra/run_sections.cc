#include "configs/scenario/imports/hydra/run_sections.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace ringwright::configs {

HydraKey key_below(const ConfigNode& map, std::string_view name, const std::string& path) {
  const ConfigEntry* const entry = find_entry(map, name);
  return {.path = path.empty() ? std::string(name) : fmt::format("{}.{}", path, name),
          .node = entry == nullptr ? nullptr : &entry->value};
}

void RunSections::add(std::string_view section, const ConfigNode& map, std::string path) {
  sections_[std::string(section)].push_back({.path = std::move(path), .node = &map});
}

HydraKey RunSections::key(std::string_view section, std::string_view name) const {
  const HydraKey none{.path = fmt::format("{}.{}", section, name), .node = nullptr};
  const auto found = sections_.find(section);
  if (found == sections_.end()) return none;
  const auto map = std::find_if(found->second.rbegin(), found->second.rend(),
                                [&](const HydraKey& part) { return find_entry(*part.node, name) != nullptr; });
  if (map == found->second.rend()) return none;
  HydraKey key = key_below(*map->node, name, map->path);
  asked_.insert(key.path);
  return key;
}

std::vector<HydraKey> RunSections::unread(std::string_view section) const {
  std::vector<HydraKey> keys;
  const auto found = sections_.find(section);
  if (found == sections_.end()) return keys;
  for (const HydraKey& map : found->second) {
    for (const ConfigEntry& entry : map.node->entries) {
      HydraKey key = key_below(*map.node, entry.key, map.path);
      if (is_given(key) && !asked_.contains(key.path)) keys.push_back(std::move(key));
    }
  }
  return keys;
}

HydraKey RunSections::section(std::string_view name) const {
  const auto found = sections_.find(name);
  return found == sections_.end() ? HydraKey{} : found->second.back();
}

}  // namespace ringwright::configs
