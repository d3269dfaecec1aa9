// The use of all links, by tier of the cluster.
#include <algorithm>

#include <fmt/format.h>

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
    const std::size_t bin_count = std::min<std::size_t>(bins.size(), 100);
    for (std::size_t i = 0; i < bin_count; ++i) {
      texts(used).push_back(fmt::format("{} to {} %", 100 * i / bin_count, 100 * (i + 1) / bin_count));
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
