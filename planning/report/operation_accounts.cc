#include "planning/report/operation_accounts.h"

#include <algorithm>

namespace ringwright::planning {

std::vector<AccountTime> account_times(const JsonValue& seconds) {
  std::vector<AccountTime> times;
  for (const std::string& key : seconds.keys) {
    AccountTime time{.name = key, .seconds = seconds[key].number().value_or(0.0), .is_productive = key == "productive"};
    std::ranges::replace(time.name, '_', ' ');
    if (key == "waiting") time.name = "waiting for spares";
    if (key == "planned") time.name = "planned stops";
    if (key == "replay") time.name = "lost work done again";
    if (key == "degraded") time.name = "degraded steps";
    times.push_back(std::move(time));
  }
  return times;
}

}  // namespace ringwright::planning
