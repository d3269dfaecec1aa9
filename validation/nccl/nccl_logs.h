// Several measured logs, read together: all their errors at once.
#pragma once

#include <string>
#include <vector>

#include "core/base/diagnostic.h"
#include "traces/nccl_tests/collective_log.h"

namespace ringwright::validation {

struct NcclLogs {
  std::vector<traces::CollectiveLog> logs;
  Diagnostics warnings;
};
[[nodiscard]] Result<NcclLogs> read_nccl_logs(const std::vector<std::string>& files,
                                              const std::optional<std::string>& collective = std::nullopt);

// A log's name without its folder.
[[nodiscard]] std::string log_name(const std::string& file);

}  // namespace ringwright::validation
