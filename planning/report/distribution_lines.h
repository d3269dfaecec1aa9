// Distributions as lines: the share of all cases up to each value, one line for each series.
#pragma once

#include <limits>
#include <string>

#include "planning/report/json_value.h"
#include "planning/report/panel.h"

namespace ringwright::planning {

class DistributionLines {
 public:
  struct Axis {
    std::string name;
    std::string unit;
    double factor = 1.0;                                      // from the numbers of the result
    double least = -std::numeric_limits<double>::infinity();  // smaller values are shown as this one
  };
  DistributionLines(std::string series, Axis axis);

  // `quantiles`: ascending numbers that stand for equal shares of the cases; ignored where they are no list.
  void add(const std::string& name, const JsonValue& quantiles);
  [[nodiscard]] bool empty() const { return series_.size() == 0; }
  // With the columns series, value, share of the cases.
  [[nodiscard]] Panel panel(Panel frame) const;

 private:
  PanelColumn series_;
  PanelColumn value_;
  PanelColumn share_;
  double factor_;
  double least_;
};

}  // namespace ringwright::planning
