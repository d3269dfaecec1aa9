// The busiest links of the cluster.
#include <algorithm>

#include "planning/report/builtin_panels.h"
#include "planning/report/scales.h"

namespace ringwright::planning {

std::vector<Panel> busiest_links(const ResultInput& result) {
  const std::vector<JsonValue>& links = result.json["links"].list();
  if (links.empty()) return {};
  double most = 0.0;
  for (const JsonValue& link : links) most = std::max(most, link["bytes"].number().value_or(0.0));
  const UnitScale sizes = byte_scale(most);
  PanelColumn name = text_column("link"), used = number_column("used", "%"),
              bytes = number_column("carried in the run", std::string(sizes.unit)),
              count = number_column("such links", "");
  for (const JsonValue& link : links) {
    texts(name).push_back(link["id"].text());
    numbers(used).push_back(link["util"].number_or_unknown() * 100.0);
    numbers(bytes).push_back(link["bytes"].number_or_unknown() * sizes.factor);
    numbers(count).push_back(link["multiplicity"].number_or_unknown());
  }
  return {Panel{.id = "busiest-links",
                .title = "Busiest links",
                .sentence = "Share of its capacity that a link carries, averaged over the run; of each kind of link a "
                            "few. A link with an average of 60 % is full for long stretches.",
                .chart = Chart::kBars,
                .columns = {name, used, bytes, count}}};
}

}  // namespace ringwright::planning
