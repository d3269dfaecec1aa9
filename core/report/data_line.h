// What a report says of the data pipeline.
#pragma once

#include <string>

#include "core/report/report.h"

namespace ringwright {

// Of a report with a data pipeline: "1,280 samples/s at most (CPU workers), 2,000 needed; stall 12.3 ms (56.2 % of the
// step)"
[[nodiscard]] std::string data_line(const Report& report);

}  // namespace ringwright
