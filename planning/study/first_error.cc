#include "planning/study/first_error.h"

#include <algorithm>

namespace ringwright::planning {

const Diagnostic* first_error(const Diagnostics& diagnostics) {
  const auto first = std::ranges::find(diagnostics.all(), Severity::kError, &Diagnostic::severity);
  return first == diagnostics.all().end() ? nullptr : &*first;
}

std::string reason_of(const Diagnostic& mistake) {
  std::string reason = mistake.message;
  if (!mistake.hint.empty()) reason += "; " + mistake.hint;
  std::ranges::replace(reason, '\n', ' ');
  return reason;
}

}  // namespace ringwright::planning
