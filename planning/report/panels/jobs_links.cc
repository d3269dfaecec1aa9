// The links that carry the traffic of several jobs: a panel for each placement.
#include <fmt/format.h>

#include "planning/report/builtin_panels.h"

namespace ringwright::planning {
namespace {

constexpr std::size_t kMostArrangements = 8;

Panel links_of(const JsonValue& arrangement, std::size_t number) {
  const std::vector<JsonValue>& jobs = arrangement["jobs"].list();
  PanelColumn name = text_column("link"), together = number_column("together", "%"),
              equal = number_column("equal links", "");
  std::vector<PanelColumn> alone;
  for (const JsonValue& job : jobs) alone.push_back(number_column(job["name"].text() + " alone", "%"));
  for (const JsonValue& link : arrangement["links"].list()) {
    texts(name).push_back(link["name"].text());
    numbers(together).push_back(100.0 * link["together"].number_or_unknown());
    numbers(equal).push_back(link["links"].number_or_unknown());
    const std::vector<JsonValue>& loads = link["alone"].list();
    for (std::size_t job = 0; job < alone.size(); ++job) {
      numbers(alone[job]).push_back(100.0 * (job < loads.size() ? loads[job] : JsonValue{}).number_or_unknown());
    }
  }
  Panel panel{.id = fmt::format("contended-links-{}", number),
              .title = "Contended links, " + arrangement["placement"].text(),
              .sentence =
                  "The most loaded links that carry the traffic of several jobs: the mean share of the capacity "
                  "that all take together; in the table that each takes alone.",
              .chart = Chart::kBars,
              .columns = {name, together, equal}};
  panel.columns.insert(panel.columns.end(), alone.begin(), alone.end());
  return panel;
}

}  // namespace

std::vector<Panel> jobs_links(const ResultInput& result) {
  std::vector<Panel> panels;
  for (const JsonValue& arrangement : result.json["arrangements"].list()) {
    if (arrangement["links"].list().empty() || panels.size() == kMostArrangements) continue;
    panels.push_back(links_of(arrangement, panels.size() + 1));
  }
  return panels;
}

}  // namespace ringwright::planning
