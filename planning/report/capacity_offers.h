// The machines of a capacity study, as its result lists them.
#pragma once

#include <string>
#include <vector>

#include "planning/report/json_value.h"

namespace ringwright::planning {

// Within the budget, best first.
[[nodiscard]] std::vector<const JsonValue*> ranked_offers(const JsonValue& study);
[[nodiscard]] bool was_simulated(const JsonValue& offer);
// "64 x B200": hosts and machine
[[nodiscard]] std::string offer_name(const JsonValue& offer);
// "tp 4, pp 1"
[[nodiscard]] std::string offer_layout(const JsonValue& offer);

}  // namespace ringwright::planning
