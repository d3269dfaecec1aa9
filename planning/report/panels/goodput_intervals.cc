// The productive share by the interval between checkpoints, and the kinds of checkpoints.
#include <algorithm>

#include "planning/report/builtin_panels.h"
#include "planning/report/scales.h"

namespace ringwright::planning {

std::vector<Panel> goodput_intervals(const ResultInput& result) {
  const JsonValue& interval = result.json["interval"];
  std::vector<const JsonValue*> tried;
  for (const JsonValue& one : interval["tried"].list()) tried.push_back(&one);
  if (tried.empty()) return {};
  std::ranges::stable_sort(tried, {}, [](const JsonValue* one) { return (*one)["seconds"].number().value_or(0.0); });
  const UnitScale scale = long_time_scale(tried.back()->operator[]("seconds").number().value_or(0.0));
  PanelColumn series = text_column("series"), every = number_column("interval", std::string(scale.unit)),
              ratio = number_column("productive time", "%"), rule = text_column("rule"),
              error = number_column("standard error", "% of the time");
  for (const bool simulated : {true, false}) {
    for (const JsonValue* one : tried) {
      texts(series).emplace_back(simulated ? "simulated" : "closed form");
      numbers(every).push_back((*one)["seconds"].number_or_unknown() * scale.factor);
      numbers(ratio).push_back(100.0 *
                               (simulated ? (*one)["ettr"]["mean"] : (*one)["closed_form"]).number_or_unknown());
      texts(rule).push_back((*one)["rule"].text());
      numbers(error).push_back(simulated ? 100.0 * (*one)["ettr"]["standard_error"].number_or_unknown() : 0.0);
    }
  }
  return {Panel{.id = "intervals",
                .title = "Interval of the checkpoints" +
                         (interval["tier"].text().empty() ? "" : " (" + interval["tier"].text() + ")"),
                .sentence =
                    "All intervals meet the same faults. The closed form is the exact efficiency of the classic "
                    "model: memoryless failures and one kind of checkpoint.",
                .chart = Chart::kLines,
                .columns = {series, every, ratio, rule, error},
                .x_scale = AxisScale::kLogarithmic}};
}

std::vector<Panel> goodput_checkpoints(const ResultInput& result) {
  const double step = result.json["job"]["step_time_s"].number_or_unknown();
  PanelColumn name = text_column("checkpoint"), steps = number_column("interval", "steps"),
              every = number_column("interval in time", "s"), stall = number_column("stall", "s"),
              write = number_column("writing", "s"), load = number_column("loading", "s");
  for (const JsonValue& tier : result.json["checkpoints"].list()) {
    texts(name).push_back(tier["name"].text());
    numbers(steps).push_back(tier["every_steps"].number_or_unknown());
    numbers(every).push_back(tier["every_steps"].number_or_unknown() * step);
    numbers(stall).push_back(tier["stall_s"].number_or_unknown());
    numbers(write).push_back(tier["write_s"].number_or_unknown());
    numbers(load).push_back(tier["load_s"].number_or_unknown());
  }
  if (name.size() == 0) return {};
  return {Panel{.id = "checkpoints",
                .title = "Checkpoints",
                .sentence = "Each kind with its interval; training stands still for the stall, and a version counts "
                            "when its writing has ended.",
                .columns = {name, steps, every, stall, write, load}}};
}

}  // namespace ringwright::planning
