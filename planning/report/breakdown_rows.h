// The time breakdown of a result, as panels show it.
#pragma once

#include <string>
#include <vector>

#include "planning/report/json_value.h"
#include "planning/report/panel.h"

namespace ringwright::planning {

struct BreakdownRow {
  std::string dimension;  // "compute", "tp", "idle"
  double exposed = 0.0;   // seconds, as the others
  double share = 0.0;
  double hidden = 0.0;
  double in_flight = 0.0;
  double bytes = 0.0;

  [[nodiscard]] bool is_communication() const {
    return dimension != "compute" && dimension != "idle" && dimension != "data";
  }
  // "computing", "TP communication", "waiting for other ranks"
  [[nodiscard]] std::string name() const;
};

// Of the list `breakdown` of a result.
[[nodiscard]] std::vector<BreakdownRow> breakdown_rows(const JsonValue& breakdown);

// The panel's columns and rows, without title and sentence.
[[nodiscard]] Panel waterfall_of(const std::vector<BreakdownRow>& rows);

}  // namespace ringwright::planning
