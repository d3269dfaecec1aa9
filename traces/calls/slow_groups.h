// Communicators that are slower than others of their size at the same calls.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "traces/calls/joined_calls.h"

namespace ringwright::traces {

struct SlowGroup {
  std::uint32_t group = 0;  // into JoinedCalls::groups
  std::string operation;
  Bytes bytes;
  std::size_t calls = 0;
  Duration median;           // of its calls' own times
  Duration usual;            // the median over all communicators of this size
  std::size_t compared = 0;  // communicators of this size with such calls
};

// At least three communicators of one size make the same call, and the median time of one is above the usual one by
// more than `tolerance` (0.2: a fifth). By excess, the largest first.
[[nodiscard]] std::vector<SlowGroup> slow_groups(const JoinedCalls& joined, double tolerance);
[[nodiscard]] std::string slow_groups_text(const JoinedCalls& joined, double tolerance);

}  // namespace ringwright::traces
