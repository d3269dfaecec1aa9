#include "traces/chakra/problem_list.h"

namespace ringwright::traces {

void ProblemList::error(std::string code, std::string message, std::string hint) {
  if (is_full()) return;
  found_.add({.severity = Severity::kError,
              .code = std::move(code),
              .place = {.file = file_},
              .message = std::move(message),
              .hint = std::move(hint)});
}

void ProblemList::warning(std::string code, std::string message, std::string hint) {
  if (found_.all().size() >= 2 * kMost) return;
  found_.add({.severity = Severity::kWarning,
              .code = std::move(code),
              .place = {.file = file_},
              .message = std::move(message),
              .hint = std::move(hint)});
}

}  // namespace ringwright::traces
