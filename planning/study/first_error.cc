#include "planning/study/first_error.h"

#include <algorithm>

namespace ringwright::planning {

const Diagnostic* first_error(const Diagnostics& diagnostics) {
  const auto first = std::ranges::find(diagnostics.all(), Severity::kError, &Diagnostic::severity);
  return first == diagnostics.all().end() ? nullptr : &*first;
}

}  // namespace ringwright::planning
