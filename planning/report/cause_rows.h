// The parts of a step by cause, as sweeps, comparisons and what-ifs list them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "planning/report/json_value.h"
#include "planning/report/panel.h"

namespace ringwright::planning {

struct CauseRow {
  std::string cause;  // "gemm", "DP communication", "bubble and waiting"
  double seconds = 0.0;
};

// Of a list with `cause` and `ps`: `parts_ps`, `changes_ps`.
[[nodiscard]] std::vector<CauseRow> cause_rows(const JsonValue& list);

struct NamedCauses {
  std::string name;
  std::vector<CauseRow> rows;
};

// A stacked bar for each entry, with the causes in the order in which they appear first.
[[nodiscard]] Panel stacked_causes(std::span<const NamedCauses> entries, std::string first_column);

}  // namespace ringwright::planning
