// The file of a run's timeline, for `ringwright run --timeline`.
#pragma once

#include <string>

#include "core/base/diagnostic.h"
#include "traces/timeline/timeline.h"

namespace ringwright::tools {

// In the form that its name asks for. What was written, to print: "timeline of 8 ranks, 1204 slices, ... in step.json";
// or why it could not be (E625).
[[nodiscard]] Result<std::string> write_timeline(const traces::Timeline& timeline, const std::string& file);

}  // namespace ringwright::tools
