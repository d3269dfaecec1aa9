// Which file the user means: a path, or the name of a shipped scenario.
#pragma once

#include <string>

namespace ringwright::tools {

// A path that exists, or has a suffix or folder, stays as it is, so that a mistake in it is told in the user's words.
[[nodiscard]] std::string find_scenario(const std::string& path_or_name);

}  // namespace ringwright::tools
