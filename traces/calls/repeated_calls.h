// Calls that a rank has recorded more than once: copies of a file, and dumps that overlap.
#pragma once

#include <cstddef>
#include <vector>

#include "traces/calls/recorded_call.h"

namespace ringwright::traces {

// Keeps the first record of each call of a rank on a host, and says how many others there were. Processes that hold
// nothing else go with them. Without a rank nothing says that two processes are one.
[[nodiscard]] std::size_t drop_repeated_calls(std::vector<RankCalls>& processes);

}  // namespace ringwright::traces
