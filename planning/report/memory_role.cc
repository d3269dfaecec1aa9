#include "planning/report/memory_role.h"

#include "planning/report/scales.h"

namespace ringwright::planning {

std::string role_of(const JsonValue& memory_row) {
  const std::string& role = memory_row["role"].text();
  if (!role.empty()) return role;
  return "stage " + count_text(memory_row["stage"].number().value_or(0.0));  // results of earlier versions
}

}  // namespace ringwright::planning
