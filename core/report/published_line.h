// A published figure in the report's text.
#pragma once

#include <string>

#include "core/report/report.h"

namespace ringwright {

// "MFU 41.0 %; the prediction is +6.6 % [a paper]". Of a changed scenario without the difference, which would compare
// two jobs: "MFU 41.0 % without the changes of parallel.tp [a paper]".
[[nodiscard]] std::string published_line(const Report& report, const Comparison& comparison);

}  // namespace ringwright
