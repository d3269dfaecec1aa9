// What `validate` and `calibrate` share: the kind of measurement as first word, and answers to a wrong one.
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/base/text.h"
#include "tools/command.h"

namespace ringwright::tools {

// Finds the entry that the first word names and takes the word away. Null, with `problem` said, when no word names one.
template <class Table>
[[nodiscard]] auto take_kind(const Table& table, std::vector<std::string>& words, std::string& problem)
    -> decltype(&table.front()) {
  std::vector<std::string> kinds;
  for (const auto& entry : table) {
    if (!words.empty() && words.front() == entry.name) {
      words.erase(words.begin());
      return &entry;
    }
    kinds.emplace_back(entry.name);
  }
  if (words.empty()) {
    problem = fmt::format("say what was measured: {}", join(kinds, ", "));
  } else {
    const std::string near = nearest_name(words.front(), kinds);
    problem = fmt::format("'{}' is no kind of measurement{}; there are {}", words.front(),
                          near.empty() ? "" : fmt::format("; did you mean '{}'?", near), join(kinds, ", "));
  }
  return nullptr;
}

// What is played beside the measurements can be told in both.
[[nodiscard]] inline OptionSpec played_values_option(std::vector<std::string>* overrides) {
  return {.names = "--set",
          .value = "PATH=VALUE",
          .doc = "override a value of what is played; repeatable",
          .target = overrides};
}
[[nodiscard]] inline OptionSpec played_machine_option(std::string* cluster) {
  return {.names = "--cluster",
          .value = "FILE",
          .doc = "the machine, for measurements that do not name it",
          .target = cluster};
}

[[nodiscard]] inline OptionSpec collective_option(std::string* collective) {
  return {.names = "--collective",
          .value = "NAME",
          .doc = "of nccl: what was measured, for logs whose text and name do not tell: all_reduce, all_gather, ...",
          .target = collective};
}

// A line for each kind.
template <class Table>
[[nodiscard]] std::string kinds_text(const Table& table) {
  std::string text = "Kinds of measurements:\n";
  for (const auto& entry : table) text += fmt::format("  {:<16} {}\n", entry.name, entry.help);
  return text;
}

}  // namespace ringwright::tools
