// A scatter plot of predicted against measured times on two logarithmic axes, as SVG.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "validation/fit/error_statistics.h"

namespace ringwright::validation {

struct PlotSeries {
  std::string name;
  std::string colour;                     // "#1f77b4"
  std::vector<PredictedMeasured> points;  // seconds
};

// With the diagonal and a band of 10 % on both sides of it. Empty without points.
[[nodiscard]] std::string scatter_svg(std::string_view title, std::span<const PlotSeries> series);

}  // namespace ringwright::validation
