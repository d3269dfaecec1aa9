// The first mistake of several, which stands for them where a study has one line for each point.
#pragma once

#include "core/base/diagnostic.h"

namespace ringwright::planning {

// Null: there are only warnings.
[[nodiscard]] const Diagnostic* first_error(const Diagnostics& diagnostics);

}  // namespace ringwright::planning
