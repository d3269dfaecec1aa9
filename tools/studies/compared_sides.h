// The sides of a comparison as the user names them: scenarios, results of earlier runs, or folders of these.
#pragma once

#include <string>
#include <vector>

#include "core/base/diagnostic.h"
#include "planning/compare/comparison.h"

namespace ringwright::tools {

// All sides against the first one. `settings` change the second side, which is the first one again where it is not
// named; a result cannot be changed (E321).
[[nodiscard]] Result<planning::SideBySide> compare_sides(std::vector<std::string> sides,
                                                         const std::vector<std::string>& settings);

}  // namespace ringwright::tools
