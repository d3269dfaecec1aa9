// Plain rewordings of yaml-cpp's syntax errors, for people who do not know its grammar. Internal to core/config.
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

// An unknown message is passed on unchanged.
[[nodiscard]] SyntaxMessage reword(std::string_view yaml_cpp_message);

// The column (from 1) of a tab in the indentation of a line (from 1). It causes all kinds of yaml-cpp messages; the fix
// is to remove the tab.
[[nodiscard]] std::optional<int> tab_in_indentation(std::span<const std::string> lines, int line);

}  // namespace ringwright
