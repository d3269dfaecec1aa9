// Whether recorded times of a collective hold its own time, or only bound it.
//
// A kernel of a collective waits for the last rank. With records of all ranks the shortest is the collective's own
// time. With those of some ranks, its own time is recorded where the shortest time is met again: in two calls in which
// the rank waited equally little, it hardly waited. Calls that only repeat with different waits bound the time from
// above. So do an all-to-all with uneven or unknown parts, and a call that always runs with another one of its GPU.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/units.h"
#include "traces/calls/joined_calls.h"

namespace ringwright::validation {

enum class OwnTime : std::uint8_t { kRecorded, kOnce, kWaits, kShared, kUnevenParts, kOneBuffer };
[[nodiscard]] std::string_view to_string(OwnTime own);  // "waits for others"

// Of calls of one operation, size and shape; some of `ranks` members recorded them.
[[nodiscard]] OwnTime own_time_of(const std::vector<const traces::JoinedCall*>& calls, int ranks);

}  // namespace ringwright::validation
