#include "traces/nccl_tests/run_options.h"

#include <algorithm>

#include <fmt/format.h>

#include "traces/input/log_text.h"

namespace ringwright::traces {
namespace {

bool is_variable_name(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; });
}

std::string_view unquoted(std::string_view text) {
  const bool quoted = text.size() > 1 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front();
  return quoted ? text.substr(1, text.size() - 2) : text;
}

}  // namespace

std::optional<LibraryVariable> variable_in(std::string_view line) {
  constexpr std::string_view kSet = " set by environment to ";
  const std::size_t at = line.find(kSet);
  if (at == std::string_view::npos) return std::nullopt;
  const auto words = words_of(line.substr(0, at));
  if (words.empty() || !is_variable_name(words.back())) return std::nullopt;
  std::string_view value = trimmed(line.substr(at + kSet.size()));
  if (value.ends_with('.')) value.remove_suffix(1);  // NCCL ends some of these sentences
  return LibraryVariable{.name = std::string(words.back()), .value = std::string(trimmed(value))};
}

std::vector<LibraryVariable> variables_of_command(std::string_view line) {
  std::vector<LibraryVariable> variables;
  for (const std::string_view word : words_of(line)) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos || !is_variable_name(word.substr(0, equals))) continue;
    variables.push_back(
        {.name = std::string(word.substr(0, equals)), .value = std::string(unquoted(word.substr(equals + 1)))});
  }
  return variables;
}

bool is_kept(const LibraryVariable& variable) {
  const bool of_library = variable.name.starts_with("NCCL_") || variable.name.starts_with("FI_CXI_") ||
                          variable.name.starts_with("FI_HMEM_");
  return of_library && !variable.value.empty() && variable.value.find('/') == std::string::npos;
}

bool add_variable(const LibraryVariable& variable, std::string& list) {
  const std::string entry = variable.name + "=";
  const bool known = list.starts_with(entry) || list.find("; " + entry) != std::string::npos;
  if (known || !is_kept(variable)) return false;
  list += fmt::format("{}{}{}", list.empty() ? "" : "; ", entry, variable.value);
  return true;
}

std::vector<LibraryVariable> variables_in_list(std::string_view list) {
  std::vector<LibraryVariable> variables;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find(';', at), list.size());
    const std::string_view entry = trimmed(list.substr(at, end - at));
    const std::size_t equals = entry.find('=');
    if (equals != std::string_view::npos) {
      const auto words = words_of(entry.substr(0, equals));
      if (!words.empty()) variables.push_back({std::string(words.back()), std::string(entry.substr(equals + 1))});
    } else if (entry.find(':') != std::string_view::npos && !variables.empty()) {
      variables.back().value += fmt::format(";{}", entry);
    }
    at = end + 1;
  }
  return variables;
}

int count_after(std::string_view text, std::string_view label) {
  const std::size_t at = text.find(label);
  if (at == std::string_view::npos) return 0;
  const auto words = words_of(text.substr(at + label.size()));
  return words.empty() ? 0 : parse_number<int>(words.front()).value_or(0);
}

int channels_in(std::string_view line) {
  const std::size_t at = line.find(" coll channels");
  if (at == std::string_view::npos) return 0;
  const auto words = words_of(line.substr(0, at));
  return words.empty() ? 0 : parse_number<int>(words.back()).value_or(0);
}

std::string why_aggregated_differs(int together) {
  return fmt::format(
      "{} calls are launched together and share the time (agg iters: {}); they are simulated one after another",
      together, together);
}

std::string why_graphs_differ() {
  return "CUDA graphs launch the calls (graph: 1 or more), and no thread issues them; simulated ones are issued";
}

std::string why_blocking_differs() {
  return "the test waits for the end of each call (Blocking Enabled, -z), and its times contain that; simulated calls "
         "are issued back to back";
}

std::string why_groups_differ(std::size_t groups) {
  return fmt::format(
      "the ranks form {} groups (NCCL_TESTS_SPLIT), which ran at once and shared the network; the first "
      "is simulated alone",
      groups);
}

}  // namespace ringwright::traces
