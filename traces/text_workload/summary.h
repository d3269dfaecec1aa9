// What a text workload holds, for `inspect`.
#pragma once

#include <string>

#include "traces/input/file_summary.h"

namespace ringwright::traces {

[[nodiscard]] FileSummary summarise_text_workload(const std::string& path);

}  // namespace ringwright::traces
