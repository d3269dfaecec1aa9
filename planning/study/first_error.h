// The first mistake of several, which stands for them where a study has one line for each point.
#pragma once

#include <string>

#include "core/base/diagnostic.h"

namespace ringwright::planning {

// Null: there are only warnings.
[[nodiscard]] const Diagnostic* first_error(const Diagnostics& diagnostics);

// On one line, with the fix: "'cluster.nodes' = 400 m needs no unit; did you mean 400?"
[[nodiscard]] std::string reason_of(const Diagnostic& mistake);

}  // namespace ringwright::planning
