#include "configs/scenario/imports/hydra/key_table.h"

#include <algorithm>

namespace ringwright::configs {

std::string flag_of(const KeyRow& row) {
  std::string flag(row.flag.empty() ? row.name : row.flag);
  std::ranges::replace(flag, '_', '-');
  return flag;
}

const KeyRow* find_row(const KeySection& section, std::string_view name) {
  static constexpr KeyRow kIdleRow{.name = "", .meaning = KeyMeaning::kIdle};
  const auto row = std::ranges::find(section.rows, name, &KeyRow::name);
  if (row != section.rows.end()) return &*row;
  if (section.all_idle || std::ranges::find(section.idle, name) != section.idle.end()) return &kIdleRow;
  return section.base == nullptr ? nullptr : find_row(*section.base, name);
}

const KeySection* find_section(std::span<const KeySection> sections, std::string_view name) {
  const auto section = std::ranges::find(sections, name, &KeySection::name);
  return section == sections.end() ? nullptr : &*section;
}

}  // namespace ringwright::configs
