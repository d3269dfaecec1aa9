// Joined collectives as a table of a file's summary.
#pragma once

#include "traces/calls/joined_calls.h"
#include "traces/input/file_summary.h"

namespace ringwright::traces {

[[nodiscard]] SummaryTable summarise_calls(const JoinedCalls& joined);
// Of several ranks; no rows for one.
[[nodiscard]] SummaryTable summarise_lateness(const JoinedCalls& joined);
// Communicators a fifth slower than is usual for their size.
[[nodiscard]] SummaryTable summarise_slow_groups(const JoinedCalls& joined);

}  // namespace ringwright::traces
