// A text as a JSON string, quotes and escapes included; enough JSON for printing short lists.
#pragma once

#include <string>
#include <string_view>

namespace ringwright {

[[nodiscard]] std::string json_text(std::string_view text);

}  // namespace ringwright
