#include "planning/report/distribution_lines.h"

#include <algorithm>
#include <utility>

namespace ringwright::planning {

DistributionLines::DistributionLines(std::string series, Axis axis)
    : series_(text_column(std::move(series))),
      value_(number_column(std::move(axis.name), std::move(axis.unit))),
      share_(number_column("share of the cases", "%")),
      factor_(axis.factor),
      least_(axis.least) {}

void DistributionLines::add(const std::string& name, const JsonValue& quantiles) {
  const std::vector<JsonValue>& values = quantiles.list();
  for (std::size_t i = 0; i < values.size(); ++i) {
    texts(series_).push_back(name);
    numbers(value_).push_back(std::max(values[i].number_or_unknown() * factor_, least_));
    numbers(share_).push_back(100.0 * static_cast<double>(i + 1) / static_cast<double>(values.size()));
  }
}

Panel DistributionLines::panel(Panel frame) const {
  frame.chart = Chart::kLines;
  frame.columns = {series_, value_, share_};
  return frame;
}

}  // namespace ringwright::planning
