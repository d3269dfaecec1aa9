// The binary form of GOAL schedules, which txt2bin of LogGOPSim and ATLAHS writes and their simulators read. Little
// endian, without padding:
//
//   u64 4223, u32 ranks, u8 highest cpu, u8 highest nic
//   per rank: u64 begin and end of its part, counted from byte 8
//   a part: u32 operations, u32 roots, u32 root[]; records of 39 bytes {u32 dependencies, u8 kind (1 send, 2 recv,
//   3 calc), u32 peer, u64 size, u32 tag, u8 cpu, u8 nic, u32 successors, u32 first, u32 start successors, u32 first};
//   then u32 successor[], to which `first` are positions
#pragma once

#include <string>
#include <string_view>

#include "core/base/diagnostic.h"
#include "traces/goal/schedule.h"

namespace ringwright::traces {

[[nodiscard]] bool looks_like_goal_binary(std::string_view beginning);

// What the operations and their successors say counts; the counts of dependencies and the roots must agree with it.
[[nodiscard]] Result<GoalSchedule> parse_goal_binary(const std::string& file, std::string_view bytes);

// Its operations need an order without cycles.
[[nodiscard]] std::string goal_binary(const GoalSchedule& schedule);

}  // namespace ringwright::traces
