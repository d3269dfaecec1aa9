#include "collectives/nccl/list_syntax.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include <fmt/format.h>

#include "collectives/nccl/tables/vocabulary.h"
#include "core/base/text.h"

namespace ringwright::collectives {
namespace {

std::vector<std::string_view> split(std::string_view text, char mark) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(mark);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string lower(std::string_view text) {
  std::string result;
  for (const char c : text) result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

// One list, without its function's name.
std::string parse_names(std::string_view text, const std::vector<std::string>& names, std::vector<bool>& chosen) {
  const bool all_but = !text.empty() && text.front() == '^';
  if (all_but) text.remove_prefix(1);
  chosen.assign(names.size(), all_but);
  for (const std::string_view part : split(text, ',')) {
    const auto found = std::find_if(names.begin(), names.end(),
                                    [&](const std::string& name) { return lower(name) == lower(part); });
    if (found == names.end()) {
      const std::string near = nearest_name(lower(part), [&] {
        std::vector<std::string> known;
        for (const std::string& name : names) known.push_back(lower(name));
        return known;
      }());
      return fmt::format("'{}' is none of {}{}", part, join(names, ", "),
                         near.empty() ? "" : fmt::format("; did you mean '{}'?", near));
    }
    chosen[static_cast<std::size_t>(found - names.begin())] = !all_but;
  }
  return {};
}

}  // namespace

std::string parse_nccl_list(std::string_view text, const std::vector<std::string>& names,
                            std::vector<std::vector<bool>>& chosen) {
  bool first = true;
  for (const std::string_view entry : split(text, ';')) {
    const std::size_t colon = entry.find(':');
    std::vector<bool> list;
    if (colon == std::string_view::npos) {
      if (!first) return fmt::format("'{}' names no function: only the first list may apply to all", entry);
      if (std::string wrong = parse_names(entry, names, list); !wrong.empty()) return wrong;
      for (std::vector<bool>& kind : chosen) kind = list;
    } else {
      const std::optional<CollectiveKind> kind = parse_nccl_function(entry.substr(0, colon));
      if (!kind) {
        return fmt::format("'{}' is none of broadcast, reduce, allgather, reducescatter, allreduce",
                           entry.substr(0, colon));
      }
      if (std::string wrong = parse_names(entry.substr(colon + 1), names, list); !wrong.empty()) return wrong;
      chosen[index_of(*kind)] = list;
    }
    first = false;
  }
  return {};
}

}  // namespace ringwright::collectives
