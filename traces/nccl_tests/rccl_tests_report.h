// The file that rccl-tests writes with -x FILE, as -Z csv or -Z json.
#pragma once

#include <string_view>

#include "traces/nccl_tests/collective_log.h"
#include "traces/input/log_text.h"

namespace ringwright::traces {

[[nodiscard]] bool is_rccl_report(std::string_view text);
[[nodiscard]] Result<CollectiveLogReading> read_rccl_report(const LogText& input);

}  // namespace ringwright::traces
