// The head of a compression whose ratio follows measured delays: what it gains over the scenario's ratio.
#include <fmt/format.h>

#include "planning/report/builtin_panels.h"
#include "planning/report/scales.h"

namespace ringwright::planning {
namespace {

double total_seconds(const JsonValue& study, std::string_view key) {
  double picoseconds = 0.0;
  for (const JsonValue& phase : study["phases"].list()) picoseconds += phase[key].number().value_or(0.0);
  return picoseconds * 1e-12;
}

}  // namespace

ReportSection adaptive_header(const ResultInput& input) {
  const JsonValue& study = input.json;
  double steps = 0.0;
  for (const JsonValue& phase : study["phases"].list()) steps += phase["steps"].number().value_or(0.0);
  ReportSection section{
      .title = study["scenario"].text(),
      .subtitle = fmt::format("Compression whose ratio follows measured delays, over {} steps", count_text(steps))};
  section.figures.push_back({.name = "Gain",
                             .value = fmt::format("{:.2f}x", study["gain"].number_or_unknown()),
                             .remark = "time with the scenario's ratio over time with one that follows delays"});
  section.figures.push_back({.name = "Ratio",
                             .value = fmt::format("{} to {}", percent_text(study["least"].number_or_unknown()),
                                                  percent_text(study["most"].number_or_unknown()))});
  section.figures.push_back({.name = "Exposed exchange",
                             .value = seconds_text(study["exchange_ps"].number_or_unknown() * 1e-12),
                             .remark = "of a step; the ratio holds it"});
  const double adaptive = total_seconds(study, "adaptive_ps");
  const double least = total_seconds(study, "least_ps");
  const double fixed = total_seconds(study, "fixed_ps");
  section.sentences.push_back(
      fmt::format("The steps take {} with a ratio that follows delays, {} with the scenario's "
                  "and {} with the least one.",
                  seconds_text(adaptive), seconds_text(fixed), seconds_text(least)));
  return section;
}

}  // namespace ringwright::planning
