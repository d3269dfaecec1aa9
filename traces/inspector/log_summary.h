// What a communication log holds, for `ringwright inspect`.
#pragma once

#include "traces/input/file_summary.h"
#include "traces/inspector/communication_log.h"

namespace ringwright::traces {

// The warnings of the log are its problems.
[[nodiscard]] FileSummary summarise_communication_log(CommunicationLog log);

}  // namespace ringwright::traces
