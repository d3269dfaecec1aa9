// The text form of GOAL schedules, as txt2bin of LogGOPSim and ATLAHS reads it:
//
//   num_ranks 2
//   rank 0 { l1: calc 1500 cpu 0
//            l2: send 1024b to 1 tag 7 cpu 0 nic 0
//            l2 requires l1 }
//
// `irequires` waits for the start instead of the end. Clauses in any order, each once; statements may share a line;
// `//` and `/* */` are comments.
#pragma once

#include <string>
#include <string_view>

#include "core/base/diagnostic.h"
#include "traces/goal/schedule.h"

namespace ringwright::traces {

[[nodiscard]] bool looks_like_goal_text(std::string_view beginning);

// All mistakes at once, each with its line and column. `file` is for messages.
[[nodiscard]] Result<GoalSchedule> parse_goal_text(const std::string& file, std::string_view text);

}  // namespace ringwright::traces
