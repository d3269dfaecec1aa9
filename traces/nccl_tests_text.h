// The output of nccl-tests and rccl-tests.
#pragma once

#include "traces/collective_log.h"
#include "traces/input/log_text.h"

namespace ringwright::traces {

[[nodiscard]] Result<CollectiveLogReading> read_printed_log(const LogText& input);

}  // namespace ringwright::traces
