#include "planning/report/breakdown_rows.h"

#include <algorithm>
#include <cctype>

#include "planning/report/scales.h"

namespace ringwright::planning {

std::string BreakdownRow::name() const {
  if (dimension == "compute") return "computing";
  if (dimension == "idle") return "waiting for other ranks";
  if (dimension == "data") return "waiting for data";
  if (dimension == "outer_step") return "outer step";
  std::string upper = dimension;
  if (upper.size() <= 3) {
    std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  }
  return upper + " communication";
}

std::vector<BreakdownRow> breakdown_rows(const JsonValue& breakdown) {
  std::vector<BreakdownRow> rows;
  for (const JsonValue& row : breakdown.list()) {
    rows.push_back({.dimension = row["dim"].text(),
                    .exposed = row["exposed_s"].number().value_or(0.0),
                    .share = row["share"].number().value_or(0.0),
                    .hidden = row["hidden_s"].number().value_or(0.0),
                    .in_flight = row["total_s"].number().value_or(0.0),
                    .bytes = row["bytes"].number().value_or(0.0)});
  }
  return rows;
}

Panel waterfall_of(const std::vector<BreakdownRow>& rows) {
  double whole = 0.0;
  for (const BreakdownRow& row : rows) whole += row.exposed;
  const UnitScale scale = time_scale(whole);
  PanelColumn part = text_column("part"), time = number_column("time", std::string(scale.unit)),
              share = number_column("share of the step", "%");
  for (const BreakdownRow& row : rows) {
    texts(part).push_back(row.name());
    numbers(time).push_back(row.exposed * scale.factor);
    numbers(share).push_back(100.0 * row.share);
  }
  return {.chart = Chart::kWaterfall, .columns = {part, time, share}};
}

}  // namespace ringwright::planning
