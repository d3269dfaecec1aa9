// The JSON that nccl-tests writes with -J.
#pragma once

#include "traces/collective_log.h"
#include "traces/input/log_text.h"

namespace ringwright::traces {

[[nodiscard]] Result<CollectiveLogReading> read_json_log(const LogText& input);

}  // namespace ringwright::traces
