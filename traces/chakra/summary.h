// What Chakra traces hold: nodes by kind, collectives with counts and bytes, computing time, groups, and every problem.
#pragma once

#include <string>

#include "traces/input/file_summary.h"

namespace ringwright::traces {

[[nodiscard]] FileSummary summarise_chakra_file(const std::string& path);
// Of all ranks together: PREFIX.RANK.et.
[[nodiscard]] FileSummary summarise_chakra_job(const std::string& prefix);

}  // namespace ringwright::traces
