// Where the wall time of a job's life goes, as a goodput result lists it.
#pragma once

#include <string>
#include <vector>

#include "planning/report/json_value.h"

namespace ringwright::planning {

struct AccountTime {
  std::string name;  // "checkpoint stall"
  double seconds = 0.0;
  bool is_productive = false;
};

// Of the map `seconds` of a policy, in its order.
[[nodiscard]] std::vector<AccountTime> account_times(const JsonValue& seconds);

}  // namespace ringwright::planning
