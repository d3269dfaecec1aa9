// What a log says about input that was accepted: its warnings, and keys without effect, for commands without a report
// that lists them.
#pragma once

#include "core/base/diagnostic.h"
#include "core/config/config_log.h"

namespace ringwright {

// "W131: parallel.zero.bucket has no effect" says what the list of keys without effect says as well.
[[nodiscard]] bool is_listed_as_ignored(const ConfigLog& log, const Diagnostic& warning);

// Each key without effect becomes a W131.
[[nodiscard]] Diagnostics warnings_of(const ConfigLog& log);

}  // namespace ringwright
