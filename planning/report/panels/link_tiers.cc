// The use of all links, by tier of the cluster.
#include <algorithm>

#include <fmt/format.h>

#include "configs/simulation/link_tiers.h"
#include "planning/report/builtin_panels.h"

namespace ringwright::planning {

std::vector<Panel> link_tiers(const ResultInput& result) {
  const std::vector<JsonValue>& tiers = result.json["link_tiers"].list();
  if (tiers.empty()) return {};
  PanelColumn used = text_column("used"), tier_name = text_column("tier"), count = number_column("links", "");
  PanelColumn names = text_column("tier"), links = number_column("links", ""), mean = number_column("mean use", "%"),
              most = number_column("highest use", "%");
  for (const JsonValue& tier : tiers) {
    texts(names).push_back(tier["tier"].text());
    numbers(links).push_back(tier["links"].number_or_unknown());
    numbers(mean).push_back(tier["mean_util"].number_or_unknown() * 100.0);
    numbers(most).push_back(tier["max_util"].number_or_unknown() * 100.0);
    const std::vector<JsonValue>& bins = tier["histogram"].list();
    for (std::size_t i = 0; i < std::min(bins.size(), kUseBins); ++i) {
      texts(used).push_back(
          fmt::format("{:.0f} to {:.0f} %", 100.0 * configs::kUseEdges[i], 100.0 * configs::kUseEdges[i + 1]));
      texts(tier_name).push_back(tier["tier"].text());
      numbers(count).push_back(bins[i].number_or_unknown());
    }
  }
  return {Panel{.id = "link-tiers",
                .title = "Use of the links, by tier",
                .sentence = "How many links of each tier carry which share of their capacity, averaged over the run. "
                            "Uneven tiers have links on the right that others of the same tier could relieve.",
                .chart = Chart::kHeatMap,
                .columns = {used, tier_name, count}},
          Panel{.id = "link-tier-table",
                .title = "Tiers of the cluster",
                .sentence = "Each direction of a link counts alone.",
                .chart = Chart::kTable,
                .columns = {names, links, mean, most}}};
}

}  // namespace ringwright::planning
