// Resolves the scenario argument: a path, or the name of a shipped scenario.
#pragma once

#include <string>
#include <string_view>

#include "core/base/diagnostic.h"

namespace ringwright::tools {

// An existing file, or a word that looks like a path (a folder, a suffix of YAML or JSON), is returned unchanged: the
// loader reports what is wrong with it. Any other word that names no scenario fails with the nearest name.
[[nodiscard]] Result<std::string> find_scenario(const std::string& path_or_name);
// The same for a command that takes shipped machines and nodes as well, which the message then names. A word that is
// one of them fails, too.
[[nodiscard]] Result<std::string> find_scenario_or_machine(const std::string& path_or_name);
// The shipped scenario of this name or with the nearest one; empty when none is near.
[[nodiscard]] std::string nearest_scenario(std::string_view name);

}  // namespace ringwright::tools
