// What `validate` and `calibrate` share: the kind of measurement as first word, and answers to a wrong one.
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/base/text.h"

namespace ringwright::tools {

// Finds the entry that the first word names and takes the word away. Without such a word it is the first entry, so that
// `validate LOG` needs no kind. Null when the table is empty.
template <class Table>
[[nodiscard]] auto take_kind(const Table& table, std::vector<std::string>& words) -> decltype(&table.front()) {
  if (table.empty()) return nullptr;
  for (const auto& entry : table) {
    if (words.empty() || words.front() != entry.name) continue;
    words.erase(words.begin());
    return &entry;
  }
  return &table.front();
}

// "nccl: nccl-tests logs; training: ..."
template <class Table>
[[nodiscard]] std::string kinds_text(const Table& table) {
  std::vector<std::string> kinds;
  for (const auto& entry : table) kinds.push_back(fmt::format("{}: {}", entry.name, entry.help));
  return join(kinds, "; ");
}

}  // namespace ringwright::tools
