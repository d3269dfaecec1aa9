// Every value of the configuration that was simulated, with its origin.
#include "planning/report/builtin_panels.h"

namespace ringwright::planning {

std::vector<Panel> configuration(const ResultInput& result) {
  const JsonValue& values = result.json["config"]["resolved"];
  if (values.keys.empty()) return {};
  PanelColumn key = text_column("key"), value = text_column("value"), origin = text_column("origin");
  for (std::size_t i = 0; i < values.keys.size(); ++i) {
    texts(key).push_back(values.keys[i]);
    texts(value).push_back(values.items[i]["value"].text());
    texts(origin).push_back(values.items[i]["origin"].text());
  }
  return {Panel{.id = "configuration",
                .title = "Configuration",
                .sentence =
                    "Every value that was simulated and where it comes from: a file with its line, a preset, or "
                    "a default.",
                .chart = Chart::kTable,
                .columns = {key, value, origin},
                .wide = true}};
}

}  // namespace ringwright::planning
