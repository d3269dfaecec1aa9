// Measured collectives as a table of comma-separated values.
#pragma once

#include "traces/collective_log.h"
#include "traces/input/log_text.h"

namespace ringwright::traces {

[[nodiscard]] Result<CollectiveLogReading> read_table_log(const LogText& input);

}  // namespace ringwright::traces
