#include "validation/kineto/replay_cells.h"

#include <fmt/format.h>

namespace ringwright::validation {

std::string us_cell(Duration time) {
  return fmt::format("{:.1f}", to_seconds(time) * 1e6);
}

std::string error_cell(Duration simulated, Duration measured) {
  return fmt::format("{:+.1f} %", 100.0 * (ratio(simulated, measured) - 1.0));
}

std::string text_block(const TextTable& table) {
  std::string text;
  for (const std::string& line : table.lines()) text += "  " + line + "\n";
  return text;
}

}  // namespace ringwright::validation
