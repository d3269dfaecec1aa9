// Predictions over measurements, a point for each.
#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "planning/report/builtin_panels.h"
#include "planning/report/measured_pairs.h"
#include "planning/report/scales.h"

namespace ringwright::planning {

std::vector<Panel> validation_scatter(const ResultInput& result) {
  const std::vector<MeasuredPair> pairs = measured_pairs(result.json);
  if (pairs.empty()) return {};
  double longest = 0.0;
  for (const MeasuredPair& pair : pairs) longest = std::max({longest, pair.measured, pair.predicted});
  const UnitScale scale = time_scale(longest);
  const std::string unit(scale.unit);
  PanelColumn series = text_column("source"), measured = number_column("measured", unit),
              predicted = number_column("predicted", unit), error = number_column("error", "%"),
              what = text_column("what");
  for (const MeasuredPair& pair : pairs) {
    texts(series).push_back(pair.source);
    numbers(measured).push_back(pair.measured * scale.factor);
    numbers(predicted).push_back(pair.predicted * scale.factor);
    numbers(error).push_back(100.0 * pair.error());
    texts(what).push_back(pair.what);
  }
  return {Panel{.id = "validation",
                .title = "Predicted against measured",
                .sentence = "On the diagonal a prediction equals its measurement; the thin lines are 20 % above and "
                            "below.",
                .chart = Chart::kPoints,
                .columns = {series, measured, predicted, error, what},
                .marks = {{.kind = PanelMark::Kind::kDiagonal, .name = "equal", .value = 1.0},
                          {.kind = PanelMark::Kind::kDiagonal, .name = "20 % above", .value = 1.2},
                          {.kind = PanelMark::Kind::kDiagonal, .name = "20 % below", .value = 0.8}},
                .x_scale = AxisScale::kLogarithmic,
                .y_scale = AxisScale::kLogarithmic,
                .wide = true}};
}

std::vector<Panel> validation_errors(const ResultInput& result) {
  const std::vector<SourceErrors> sources = errors_by_source(measured_pairs(result.json));
  if (sources.empty()) return {};
  PanelColumn name = text_column("source"), mean = number_column("mean absolute error", "%"),
              sign = number_column("mean error", "%"), worst = number_column("largest error", "%"),
              count = number_column("measurements", "");
  for (const SourceErrors& source : sources) {
    texts(name).push_back(source.source);
    numbers(mean).push_back(100.0 * source.mean_absolute);
    numbers(sign).push_back(100.0 * source.mean);
    numbers(worst).push_back(100.0 * source.largest);
    numbers(count).push_back(static_cast<double>(source.count));
  }
  return {Panel{.id = "validation-errors",
                .title = "Errors by source",
                .sentence = "Error: predicted over measured, less one. A mean above zero: predicted too slow.",
                .chart = Chart::kTable,
                .columns = {name, count, mean, sign, worst},
                .wide = true}};
}

}  // namespace ringwright::planning
