// The head of a sweep: its best point, how far the others are from it, and what became of all points.
#include <fmt/format.h>

#include "planning/report/builtin_panels.h"
#include "planning/report/scales.h"
#include "planning/report/sweep_points.h"

namespace ringwright::planning {
namespace {

std::string objective_text(const ReportedObjective& objective, double value) {
  if (objective.field == "step_time_s") return seconds_text(value);
  std::string text = count_text(value);
  if (!objective.unit.empty()) text += " " + std::string(objective.unit);
  return text;
}

}  // namespace

ReportSection sweep_header(const ResultInput& input) {
  const JsonValue& sweep = input.json;
  const ReportedObjective objective = reported_objective(sweep);
  const std::vector<const JsonValue*> points = ranked_points(sweep);
  const std::vector<std::string> keys = varied_keys(sweep);
  ReportSection section{.title = sweep["name"].text(),
                        .subtitle = "Sweep of " + sweep["scenario"].text() + ", by " + objective.title};
  if (!points.empty()) {
    const double best = objective_value(objective, *points.front()), worst = objective_value(objective, *points.back());
    section.figures.push_back({.name = fmt::format("Best {}", objective.title),
                               .value = objective_text(objective, best),
                               .remark = point_text(*points.front(), keys)});
    section.figures.push_back({.name = fmt::format("Worst {}", objective.title),
                               .value = objective_text(objective, worst),
                               .remark = fmt::format("{:+.1f} % against the best", 100.0 * (worst / best - 1.0))});
    if (const auto mfu = (*points.front())["mfu"].number()) {
      section.figures.push_back({.name = "MFU", .value = percent_text(*mfu), .remark = "of the best"});
    }
  }
  section.figures.push_back({.name = "Points",
                             .value = count_text(sweep["ok"].number().value_or(0.0)),
                             .remark = fmt::format("possible, of {} combinations",
                                                   count_text(sweep["combinations"].number().value_or(0.0)))});
  section.sentences.push_back(fmt::format(
      "{} points do not fit into memory, {} are refused, {} cannot finish, {} do not meet the conditions.",
      count_text(sweep["too_large"].number().value_or(0.0)), count_text(sweep["refused"].number().value_or(0.0)),
      count_text(sweep["unfinished"].number().value_or(0.0)), count_text(sweep["excluded"].number().value_or(0.0))));
  if (const double missing = sweep["missing"].number().value_or(0.0); missing > 0.0) {
    section.sentences.push_back(fmt::format("{} points have not been simulated.", count_text(missing)));
  }
  return section;
}

}  // namespace ringwright::planning
