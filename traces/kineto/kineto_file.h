// A profiler's trace as `inspect` shows it.
#pragma once

#include <string>
#include <string_view>

#include "traces/input/file_summary.h"

namespace ringwright::traces {

[[nodiscard]] bool looks_like_kineto(std::string_view beginning);
[[nodiscard]] FileSummary summarise_kineto_file(const std::string& path);

}  // namespace ringwright::traces
