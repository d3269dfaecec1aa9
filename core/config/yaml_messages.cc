#include "core/config/yaml_messages.h"

#include <array>

namespace ringwright {
namespace {

struct Rewording {
  std::string_view theirs;  // the beginning of the message
  std::string_view ours;
  std::string_view hint;
};

constexpr std::array kRewordings = {
    Rewording{"illegal map value", "a ':' where none can be", "check the indentation, and quote text that holds ': '"},
    Rewording{"end of map not found", "this does not fit the map around it", "check the indentation"},
    Rewording{"end of sequence not found", "this does not fit the list around it", "check the indentation"},
    Rewording{"end of map flow not found", "',' or '}' is missing before this", ""},
    Rewording{"end of sequence flow not found", "',' or ']' is missing before this", ""},
    Rewording{"invalid unicode", "an escape that names no character", ""},
    Rewording{"illegal flow end", "no bracket of this kind is open here", ""},
    Rewording{"illegal block entry", "a '-' where no list can be", "check the indentation"},
    Rewording{"illegal map key", "a '?' where no key can be", ""},
    Rewording{"unknown token", "text cannot begin with this character", "quote the text"},
    Rewording{"the referenced anchor is not defined", "no '&' of this name is defined above", ""},
};

}  // namespace

SyntaxMessage reword(std::string_view yaml_cpp_message) {
  for (const Rewording& row : kRewordings) {
    const bool known = yaml_cpp_message.substr(0, row.theirs.size()) == row.theirs;
    if (known) return {.says = std::string(row.ours), .hint = std::string(row.hint)};
  }
  return {.says = std::string(yaml_cpp_message), .hint = {}};
}

std::optional<int> tab_in_indentation(std::span<const std::string> lines, int line) {
  if (line < 1 || static_cast<std::size_t>(line) > lines.size()) return std::nullopt;
  const std::string& text = lines[static_cast<std::size_t>(line) - 1];
  const auto tab = text.find('\t');
  if (tab == std::string::npos || text.find_first_not_of(" \t") < tab) return std::nullopt;
  return static_cast<int>(tab) + 1;
}

}  // namespace ringwright
