// What a report says of workers that train on their own.
#pragma once

#include <string>

#include "core/report/facts.h"

namespace ringwright {

// "4 workers exchange 32.1 GB a GPU every 500 steps: 1.31 s with it, 1.02 s without; 580 us of a step in the mean"
[[nodiscard]] std::string outer_line(const OuterFacts& outer);

}  // namespace ringwright
