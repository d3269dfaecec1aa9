// The jobs of Microsoft's philly-traces: cluster_job_log, a JSON list.
#pragma once

#include <string>
#include <string_view>

#include "traces/cluster_logs/job_log.h"

namespace ringwright::traces {

// A job has the GPUs of its largest attempt, and runs for the sum of all of them.
[[nodiscard]] JobLog parse_philly(const std::string& name, std::string_view text, Diagnostics& problems);

}  // namespace ringwright::traces
