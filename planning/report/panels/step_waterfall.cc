// Where one training step goes: computing, exposed communication of each dimension, waiting.
#include "planning/report/breakdown_rows.h"
#include "planning/report/builtin_panels.h"

namespace ringwright::planning {

std::vector<Panel> step_waterfall(const ResultInput& result) {
  const std::vector<BreakdownRow> rows = breakdown_rows(result.json["breakdown"]);
  if (rows.empty()) return {};
  Panel panel = waterfall_of(rows);
  panel.id = "step-waterfall";
  panel.title = "Where one training step goes";
  panel.sentence =
      "Averages over all GPUs; the parts add up to the step time. Communication counts where it is exposed: the GPU "
      "does not compute meanwhile.";
  return {panel};
}

std::vector<Panel> slowest_stage_waterfall(const ResultInput& result) {
  const JsonValue& slowest = result.json["slowest_stage"];
  const std::vector<BreakdownRow> rows = breakdown_rows(slowest["breakdown"]);
  if (rows.empty()) return {};
  Panel panel = waterfall_of(rows);
  panel.id = "slowest-stage";
  panel.title = "The same for the slowest stage";
  panel.sentence =
      "GPUs of " + slowest["name"].text() + ", which compute longest: what they save shortens the whole step.";
  return {panel};
}

}  // namespace ringwright::planning
