#include "planning/study/difference.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace ringwright::planning {

std::vector<PartChange> difference(std::span<const StepPart> before, std::span<const StepPart> after) {
  std::vector<PartChange> changes;
  const auto entry = [&changes](const std::string& cause) -> PartChange& {
    const auto found = std::ranges::find(changes, cause, &PartChange::cause);
    return found != changes.end() ? *found : changes.emplace_back(PartChange{.cause = cause});
  };
  for (const StepPart& part : before) entry(part.cause).before += part.time;
  for (const StepPart& part : after) entry(part.cause).after += part.time;
  return changes;
}

std::string signed_text(Duration change) {
  if (change == Duration()) return "0";
  return change > Duration() ? "+" + to_string(change) : "-" + to_string(Duration() - change);
}

std::string percent_of(Duration change, Duration whole) {
  if (!(whole > Duration())) return "-";
  const double percent = 100.0 * ratio(change, whole);
  return fmt::format("{:+.1f} %", std::abs(percent) < 0.05 ? 0.0 : percent);
}

std::string signed_bar(Duration change, Duration largest, std::size_t width) {
  if (largest <= Duration()) return {};
  const double share = std::abs(ratio(change, largest));
  const auto length = static_cast<std::size_t>(std::llround(std::min(share, 1.0) * static_cast<double>(width)));
  return std::string(length, change > Duration() ? '+' : '-');
}

}  // namespace ringwright::planning
