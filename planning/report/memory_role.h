// The GPUs whose memory a row of a result's `memory` states: "stage 0", or "tables 0" of a recommendation model.
#pragma once

#include <string>

#include "planning/report/json_value.h"

namespace ringwright::planning {

[[nodiscard]] std::string role_of(const JsonValue& memory_row);

}  // namespace ringwright::planning
