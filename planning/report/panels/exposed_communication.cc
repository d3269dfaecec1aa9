// Exposed and hidden communication of each parallel dimension.
#include <algorithm>

#include "planning/report/breakdown_rows.h"
#include "planning/report/builtin_panels.h"
#include "planning/report/scales.h"

namespace ringwright::planning {

std::vector<Panel> exposed_communication(const ResultInput& result) {
  const std::vector<BreakdownRow> rows = breakdown_rows(result.json["breakdown"]);
  double longest = 0.0;
  double most = 0.0;
  for (const BreakdownRow& row : rows) {
    if (!row.is_communication()) continue;
    longest = std::max(longest, row.in_flight);
    most = std::max(most, row.bytes);
  }
  if (longest <= 0.0) return {};
  const UnitScale scale = time_scale(longest);
  const UnitScale sizes = byte_scale(most);
  const std::string unit(scale.unit);
  PanelColumn dimension = text_column("dimension"), exposed = number_column("exposed", unit),
              hidden = number_column("hidden behind computing", unit),
              behind = number_column("behind other communication", unit),
              sent = number_column("sent by a GPU", std::string(sizes.unit));
  for (const BreakdownRow& row : rows) {
    if (!row.is_communication()) continue;
    texts(dimension).push_back(row.name());
    numbers(exposed).push_back(row.exposed * scale.factor);
    numbers(hidden).push_back(row.hidden * scale.factor);
    numbers(behind).push_back(std::max(row.in_flight - row.exposed - row.hidden, 0.0) * scale.factor);
    numbers(sent).push_back(row.bytes * sizes.factor);
  }
  return {Panel{.id = "exposed-communication",
                .title = "Communication of each dimension",
                .sentence = "Time in flight per step and GPU. Only the exposed part lengthens the step; the rest runs "
                            "while the GPU computes, or while another dimension is exposed.",
                .chart = Chart::kBars,
                .columns = {dimension, exposed, hidden, behind, sent}}};
}

}  // namespace ringwright::planning
