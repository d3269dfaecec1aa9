// Keys of a sweep that change nothing in any of its points.
#pragma once

#include <string>
#include <vector>

#include "planning/sweep/sweep.h"

namespace ringwright::planning {

struct IdleKey {
  std::string key;
  std::string why;
};

// Found by reading the scenario, or by comparing points that differ in this key alone: all were simulated, at least two
// have different values, and all of them are equal in time, memory, tokens and cost. Stored points count, too, so the
// answer does not depend on what was simulated before.
[[nodiscard]] std::vector<IdleKey> idle_keys(const std::vector<std::string>& keys, const std::vector<SweepRow>& rows);

}  // namespace ringwright::planning
