// A communication log as `inspect` shows it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "traces/input/file_summary.h"

namespace ringwright::traces {

[[nodiscard]] bool looks_like_communication_log(std::string_view beginning);
// A folder stands for all files in it.
[[nodiscard]] FileSummary summarise_communication_log_file(const std::string& path);
[[nodiscard]] FileSummary summarise_communication_log_job(const std::vector<std::string>& paths);

}  // namespace ringwright::traces
