// Which parts of the machine fail, and what their faults cost.
#include "planning/report/builtin_panels.h"

namespace ringwright::planning {

std::vector<Panel> goodput_parts(const ResultInput& result) {
  const std::vector<JsonValue>& policies = result.json["policies"].list();
  if (policies.empty()) return {};
  PanelColumn name = text_column("component"), lost = number_column("lost to recovery and replay", "GPU hours"),
              faults = number_column("faults per repetition", "");
  for (const JsonValue& part : policies.front()["components"].list()) {
    texts(name).push_back(part["name"].text());
    numbers(lost).push_back(part["lost_gpu_hours"].number_or_unknown());
    numbers(faults).push_back(part["faults"].number_or_unknown());
  }
  if (name.size() == 0) return {};
  return {Panel{.id = "components",
                .title = "What fails, and what that costs",
                .sentence =
                    "Means over all repetitions, by class of component; losses of detection, recovery and work done "
                    "again.",
                .chart = Chart::kBars,
                .columns = {name, lost, faults}}};
}

}  // namespace ringwright::planning
