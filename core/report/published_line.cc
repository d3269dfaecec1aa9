#include "core/report/published_line.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/base/text.h"

namespace ringwright {
namespace {

constexpr std::size_t kShownKeys = 3;

std::string print_value(PublishedQuantity quantity, double value) {
  switch (quantity) {
    case PublishedQuantity::kStepTime: return "step time " + to_string(from_seconds(value));
    case PublishedQuantity::kModelFlopUtilisation: return fmt::format("MFU {:.1f} %", value * 100.0);
    case PublishedQuantity::kModelFlopRatePerGpu: return to_string(FlopRate(value)) + " per GPU";
    case PublishedQuantity::kTokensPerSecondPerGpu: return four_digits(value) + " tokens/s/GPU";
  }
  return "";
}

std::string named(const std::vector<std::string>& keys) {
  const std::size_t shown = std::min(keys.size(), kShownKeys);
  const std::string text = join(std::vector<std::string>(keys.begin(), keys.begin() + static_cast<long>(shown)), ", ");
  return keys.size() == shown ? text : fmt::format("{} and {} more", text, keys.size() - shown);
}

}  // namespace

std::string published_line(const Report& report, const Comparison& comparison) {
  const PublishedFigure& figure = comparison.published;
  const std::string value = print_value(figure.quantity, figure.value);
  const std::vector<std::string>& changed = report.facts.changed_since_published;
  if (changed.empty()) {
    return fmt::format("{}; the prediction is {:+.1f} % [{}]", value, comparison.difference() * 100.0, figure.source);
  }
  return fmt::format("{} without the changes of {} [{}]", value, named(changed), figure.source);
}

}  // namespace ringwright
