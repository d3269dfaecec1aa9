#include "workload/program/message_table.h"

#include <optional>

namespace ringwright::workload {

std::uint32_t MessageTable::number_of(const MessageSpec& spec) {
  if (const std::optional<std::uint32_t> recent = recent_.find(messages_, spec)) return *recent;
  const auto [entry, is_new] = number_of_.try_emplace(
      {spec.peer, spec.relative, spec.bytes.count(), spec.channel, spec.lag, spec.path, spec.moved_by, spec.importance},
      static_cast<std::uint32_t>(messages_.size()));
  if (is_new) messages_.push_back(spec);
  recent_.note(entry->second);
  return entry->second;
}

}  // namespace ringwright::workload
