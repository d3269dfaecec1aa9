#include "core/report/checkpoint_line.h"

#include <algorithm>

#include <fmt/format.h>

namespace ringwright {

bool ends_within_step(const Report& report) {
  return report.facts.checkpoint->mode != "blocking" && report.facts.checkpoint->takes < report.step_time.mean;
}

std::int64_t steps_until_stored(const Report& report) {
  const std::int64_t step = std::max<std::int64_t>(1, report.step_time.mean.count());
  return std::max<std::int64_t>(1, (report.facts.checkpoint->takes.count() + step - 1) / step);
}

std::string checkpoint_line(const Report& report) {
  const CheckpointFacts& facts = *report.facts.checkpoint;
  std::string text =
      fmt::format("{} per GPU to {}, {}: {}", to_string(facts.of_gpu), facts.to, facts.mode, to_string(facts.takes));
  if (facts.mode != "blocking") {
    const std::int64_t steps = steps_until_stored(report);
    text += ends_within_step(report) ? ", within the step"
            : steps > 1              ? fmt::format(", {} steps", steps)
                                     : ", as long as the step";
  }
  if (!facts.stall) return text;
  const Duration without = report.step_time.mean - *facts.stall;
  const double share = without > Duration() ? 100.0 * ratio(*facts.stall, without) : 0.0;
  text += fmt::format("; stall {} ({:+.2f} %)", to_string(*facts.stall), share);
  if (facts.every == 0) return text;
  const double mean = without > Duration() ? 100.0 * (ratio(facts.mean_step, without) - 1.0) : 0.0;
  const std::string every = facts.every == 1 ? "step" : fmt::format("{} steps", facts.every);
  text += fmt::format("; one every {}: {} a step in the mean ({:+.2f} %)", every, to_string(facts.mean_step), mean);
  if (facts.waits > Duration()) text += fmt::format(", each waits {} for the one before", to_string(facts.waits));
  return text;
}

}  // namespace ringwright
