#include "configs/scenario/imports/hydra/section_reader.h"

#include <utility>

#include <fmt/format.h>

#include "core/base/check.h"
#include "core/base/text.h"

namespace ringwright::configs {
namespace {

// "_target_", "_partial_": how Hydra makes an object of the map.
bool is_of_hydra(std::string_view name) {
  return name.size() > 2 && name.starts_with('_') && name.ends_with('_');
}

std::vector<std::string> names_of(const KeySection& section) {
  std::vector<std::string> names;
  for (const KeyRow& row : section.rows) names.emplace_back(row.name);
  for (const std::string_view name : section.idle) names.emplace_back(name);
  if (section.base == nullptr) return names;
  for (std::string& name : names_of(*section.base)) names.push_back(std::move(name));
  return names;
}

}  // namespace

void SectionReader::read(std::string_view name, const ConfigNode& map, const std::string& path) {
  const KeySection* const section = find_section(sections_, name);
  CHECK(section != nullptr, "a section that is read has a table");
  for (const ConfigEntry& entry : map.entries) {
    if (is_of_hydra(entry.key)) continue;
    const HydraKey key{.path = path.empty() ? entry.key : path + "." + entry.key, .node = &entry.value};
    const KeyRow* const row = find_row(*section, entry.key);
    if (row != nullptr) {
      flags_.take_row(*row, key);
    } else {
      report_unknown(*section, key, entry.key);
    }
  }
}

void SectionReader::report_unknown(const KeySection& section, const HydraKey& key, std::string_view name) {
  const std::string near = nearest_name(name, names_of(section));
  const HydraValue value = value_of(key);
  const bool off =
      value.kind == HydraKind::kNothing || (value.kind == HydraKind::kWord && switch_of(value.word.text) == false);
  if (off && near.empty()) {
    unused_.push_back(key);
    return;
  }
  flags_.warn_unknown(key, near);
}

void SectionReader::report_unused() const {
  if (unused_.empty()) return;
  std::string names;
  for (const HydraKey& key : unused_) names += (names.empty() ? "" : ", ") + key.path;
  flags_.warn(unused_.front(), "W135",
              fmt::format("{} of the file {} unknown, null or false, and left out: {}",
                          unused_.size() == 1 ? "one key" : fmt::format("{} keys", unused_.size()),
                          unused_.size() == 1 ? "is" : "are", names));
}

}  // namespace ringwright::configs
