// A text as a JSON string, quotes and escapes included; enough JSON for commands that print a list or two.
#pragma once

#include <string>
#include <string_view>

namespace ringwright::tools {

[[nodiscard]] std::string json_text(std::string_view text);

}  // namespace ringwright::tools
