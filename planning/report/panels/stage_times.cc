// How long each pipeline stage waits for the others.
#include <algorithm>

#include "planning/report/builtin_panels.h"
#include "planning/report/scales.h"

namespace ringwright::planning {

std::vector<Panel> stage_times(const ResultInput& result) {
  const std::vector<JsonValue>& stages = result.json["pipeline"].list();
  if (stages.size() < 2) return {};
  double longest = 0.0;
  for (const JsonValue& stage : stages) longest = std::max(longest, stage["bubble_s"].number().value_or(0.0));
  const UnitScale scale = time_scale(longest);
  PanelColumn name = text_column("stage"), bubble = number_column("bubble", std::string(scale.unit)),
              of_step = number_column("of the step", "%"), of_ideal = number_column("of the ideal step", "%"),
              held = number_column("microbatches held at the peak", "");
  for (const JsonValue& stage : stages) {
    texts(name).push_back(stage["stage"].text());
    numbers(bubble).push_back(stage["bubble_s"].number_or_unknown() * scale.factor);
    numbers(of_step).push_back(stage["of_step"].number_or_unknown() * 100.0);
    numbers(of_ideal).push_back(stage["of_ideal"].number_or_unknown() * 100.0);
    numbers(held).push_back(stage["held_at_peak"].number_or_unknown());
  }
  return {Panel{.id = "stage-bubbles",
                .title = "Pipeline bubble of each stage",
                .sentence = "Time of a step in which a stage neither computes nor is exposed to communication of "
                            "another dimension: it waits for other stages.",
                .chart = Chart::kBars,
                .columns = {name, bubble, of_step, of_ideal, held}}};
}

}  // namespace ringwright::planning
