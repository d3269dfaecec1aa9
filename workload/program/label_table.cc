#include "workload/program/label_table.h"

#include <optional>

namespace ringwright::workload {

std::uint32_t LabelTable::number_of(std::string_view text) {
  if (const std::optional<std::uint32_t> recent = recent_.find(labels_, text)) return *recent;
  auto known = number_of_.find(text);
  if (known == number_of_.end()) {
    known = number_of_.emplace(text, static_cast<std::uint32_t>(labels_.size())).first;
    labels_.emplace_back(text);
  }
  recent_.note(known->second);
  return known->second;
}

}  // namespace ringwright::workload
