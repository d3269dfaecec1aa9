// A communication log as `inspect` shows it.
#pragma once

#include <string>
#include <string_view>

#include "traces/input/file_summary.h"

namespace ringwright::traces {

[[nodiscard]] bool looks_like_communication_log(std::string_view beginning);
[[nodiscard]] FileSummary summarise_communication_log_file(const std::string& path);

}  // namespace ringwright::traces
