// A field of a CSV table.
#pragma once

#include <string>

namespace ringwright::planning {

// Quoted where it holds a comma, a quote or a line break.
[[nodiscard]] std::string csv_field(const std::string& text);

}  // namespace ringwright::planning
