// Cells of the tables that compare recorded with simulated times.
#pragma once

#include <cstddef>
#include <string>

#include "core/base/units.h"
#include "core/report/text_table.h"

namespace ringwright::validation {

inline constexpr std::size_t kReplayRowsShown = 200;

[[nodiscard]] std::string us_cell(Duration time);
// "+3.1 %": simulated over measured.
[[nodiscard]] std::string error_cell(Duration simulated, Duration measured);
// Its lines, indented.
[[nodiscard]] std::string text_block(const TextTable& table);

}  // namespace ringwright::validation
