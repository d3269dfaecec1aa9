// What yaml-cpp says about broken syntax, in words for people who do not know its grammar. Internal to core/config.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ringwright {

struct SyntaxMessage {
  std::string says;
  std::string hint;
};

// A message that is not known is passed on as it is.
[[nodiscard]] SyntaxMessage reword(std::string_view yaml_cpp_message);

// The column (from 1) of a tab in the indentation of a line (from 1). It leads yaml-cpp to all kinds of messages, and
// it is the tab that must go.
[[nodiscard]] std::optional<int> tab_in_indentation(std::span<const std::string> lines, int line);

}  // namespace ringwright
