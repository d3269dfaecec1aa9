// The points of a sweep's result as columns: the keys that vary, the objective, and what became of each point.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "planning/report/json_value.h"
#include "planning/report/panel.h"

namespace ringwright::planning {

// What the ranked points process: "tokens", "samples", or both.
[[nodiscard]] std::string processed_in(const JsonValue& sweep);

// The value that a sweep ranks its points by.
struct ReportedObjective {
  std::string_view name;   // as the sweep names it: "tokens_per_s"
  std::string_view field;  // of a point: "tokens_per_s"
  std::string title;       // "tokens/s", or "samples/s" where the points process these
  std::string_view unit;   // of the panel
  double factor = 1.0;     // from the field to the unit
  bool less_is_better = true;
};

[[nodiscard]] ReportedObjective reported_objective(const JsonValue& sweep);
// The objective of a point in the panel's unit; NaN where it has none.
[[nodiscard]] double objective_value(const ReportedObjective& objective, const JsonValue& point);

// The keys with more than one value, in the order of the sweep.
[[nodiscard]] std::vector<std::string> varied_keys(const JsonValue& sweep);
// The possible points, best first. They point into the sweep.
[[nodiscard]] std::vector<const JsonValue*> ranked_points(const JsonValue& sweep);
// "parallel.tp 4, training.micro_batch 2"
[[nodiscard]] std::string point_text(const JsonValue& point, const std::vector<std::string>& keys);

// The distinct values of a key: in the order of their numbers, or as they appear where one is no number.
[[nodiscard]] std::vector<std::string> sorted_values(const JsonValue& sweep, const std::string& key);

// Numbers where every value is one number with one unit ("712.9GB/s"), else texts.
[[nodiscard]] PanelColumn value_column(const std::string& key, const std::vector<const JsonValue*>& points);

}  // namespace ringwright::planning
