// A profiler's trace as `inspect` shows it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "traces/input/file_summary.h"

namespace ringwright::traces {

[[nodiscard]] bool looks_like_kineto(std::string_view beginning);
[[nodiscard]] FileSummary summarise_kineto_file(const std::string& path);
// Traces of the ranks of one job: the time of each, its collectives joined, and who arrives last.
[[nodiscard]] FileSummary summarise_kineto_job(const std::vector<std::string>& paths);

}  // namespace ringwright::traces
