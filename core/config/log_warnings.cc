#include "core/config/log_warnings.h"

#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "core/config/key_effect.h"

namespace ringwright {
namespace {

// "in part: " begins the reason of a key that acts on a part of the run.
std::string without_effect(const IgnoredKey& key) {
  std::string_view why = key.why;
  if (!why.starts_with(kInPart)) return fmt::format("{} has no effect: {}", key.path, why);
  why.remove_prefix(kInPart.size());
  return fmt::format("{} has no effect in part: {}", key.path, why);
}

}  // namespace

bool is_listed_as_ignored(const ConfigLog& log, const Diagnostic& warning) {
  return warning.code == "W131" && std::ranges::any_of(log.ignored(), [&](const IgnoredKey& ignored) {
           return warning.message.starts_with(ignored.path + " ");
         });
}

Diagnostics warnings_of(const ConfigLog& log) {
  Diagnostics warnings;
  for (const Diagnostic& diagnostic : log.diagnostics().all()) {
    if (diagnostic.severity != Severity::kWarning || is_listed_as_ignored(log, diagnostic)) continue;
    warnings.add(diagnostic);
  }
  for (const IgnoredKey& key : log.ignored()) {
    warnings.add({.severity = Severity::kWarning,
                  .code = "W131",
                  .place = {.file = key.origin},
                  .message = without_effect(key)});
  }
  return warnings;
}

}  // namespace ringwright
