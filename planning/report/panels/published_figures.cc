// The prediction next to figures that were published for the real system.
#include "planning/report/builtin_panels.h"

namespace ringwright::planning {

std::vector<Panel> published_figures(const ResultInput& result) {
  const std::vector<JsonValue>& figures = result.json["published"].list();
  if (figures.empty()) return {};
  PanelColumn metric = text_column("metric"), published = number_column("published", ""),
              ours = number_column("predicted", ""), difference = number_column("difference", "%"),
              source = text_column("source");
  for (const JsonValue& figure : figures) {
    texts(metric).push_back(figure["metric"].text());
    numbers(published).push_back(figure["published"].number_or_unknown());
    numbers(ours).push_back(figure["ours"].number_or_unknown());
    numbers(difference).push_back(figure["difference"].number_or_unknown() * 100.0);
    texts(source).push_back(figure["source"].text());
  }
  return {Panel{.id = "published",
                .title = "Measured on the real system",
                .sentence = "Figures that others published for this job, next to the prediction; none of them was used "
                            "to make it.",
                .chart = Chart::kTable,
                .columns = {metric, published, ours, difference, source},
                .wide = true}};
}

}  // namespace ringwright::planning
