// Shared by `validate` and `calibrate`: the kind of measurement as first word, and messages about a wrong one.
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/base/text.h"
#include "tools/command.h"

namespace ringwright::tools {

// Finds the entry named by the first word and removes the word. Null, with `problem` set, when no word names one.
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
    problem = fmt::format("name the kind of measurement: {}", join(kinds, ", "));
  } else {
    const std::string near = nearest_name(words.front(), kinds);
    problem = fmt::format("'{}' is not a kind of measurement{}; kinds: {}", words.front(),
                          near.empty() ? "" : fmt::format("; did you mean '{}'?", near), join(kinds, ", "));
  }
  return nullptr;
}

// Options of the simulation, the same for both commands.
[[nodiscard]] inline OptionSpec played_values_option(std::vector<std::string>* overrides) {
  return {.names = "--set",
          .value = "PATH=VALUE",
          .doc = "override a value of the simulation; repeatable",
          .target = overrides};
}
[[nodiscard]] inline OptionSpec played_machine_option(std::string* cluster) {
  return {.names = "--cluster",
          .value = "FILE",
          .doc = "the machine, for measurements that do not name it",
          .target = cluster};
}

[[nodiscard]] inline OptionSpec node_option(std::string* node) {
  return {.names = "--node",
          .value = "NAME",
          .doc =
              "for nccl: the shipped node that was measured, with the log's NICs, instead of the one that its GPU "
              "suggests",
          .target = node};
}
[[nodiscard]] inline OptionSpec collective_option(std::string* collective) {
  return {.names = "--collective",
          .value = "NAME",
          .doc = "for nccl: the operation, for logs whose text and name do not state it: all_reduce, all_gather, ...",
          .target = collective};
}

// One line per kind.
template <class Table>
[[nodiscard]] std::string kinds_text(const Table& table) {
  std::string text = "Kinds of measurements:\n";
  for (const auto& entry : table) text += fmt::format("  {:<16} {}\n", entry.name, entry.help);
  return text;
}

}  // namespace ringwright::tools
