// How much the links carry over a step: by tier, and the busiest ones.
#include <fmt/format.h>

#include "planning/report/builtin_panels.h"
#include "planning/report/scales.h"

namespace ringwright::planning {
namespace {

using traces::LinkCurve;
using traces::LinkCurves;

Panel use_map(const LinkCurves& curves, const std::vector<LinkCurve>& rows, Panel panel) {
  const double interval = to_seconds(curves.interval);
  const std::size_t intervals = rows.front().mean.size();
  const UnitScale scale = time_scale(interval * static_cast<double>(intervals));
  const std::string unit(scale.unit);
  PanelColumn row = text_column("links"), from = number_column("start", unit), to = number_column("end", unit),
              mean = number_column("mean use", "%"), highest = number_column("highest use", "%"),
              count = number_column("number of links", "");
  for (const LinkCurve& curve : rows) {
    for (std::size_t i = 0; i < curve.mean.size(); ++i) {
      texts(row).push_back(curve.name);
      numbers(from).push_back(static_cast<double>(i) * interval * scale.factor);
      numbers(to).push_back(static_cast<double>(i + 1) * interval * scale.factor);
      numbers(mean).push_back(100.0 * curve.mean[i]);
      if (!curve.highest.empty()) numbers(highest).push_back(100.0 * curve.highest[i]);
      numbers(count).push_back(static_cast<double>(curve.links));
    }
  }
  panel.chart = Chart::kTimeMap;
  panel.columns = {row, from, to, mean};
  if (highest.size() > 0) panel.columns.push_back(highest);
  panel.columns.push_back(count);
  panel.wide = true;
  return panel;
}

}  // namespace

std::vector<Panel> link_use(const ResultInput& result) {
  if (result.timeline == nullptr || !result.timeline->links) return {};
  const LinkCurves& curves = *result.timeline->links;
  if (curves.tiers.empty()) {
    return {Panel{.id = "tier-use",
                  .title = "Use of the links over the step, by tier",
                  .sentence = "The share of their capacity that links carry.",
                  .note = "No bytes of this run travel over links: its collectives are formulas, or it has none."}};
  }
  std::vector<Panel> panels;
  if (!curves.tiers.front().mean.empty()) {
    panels.push_back(use_map(curves, curves.tiers,
                             {.id = "tier-use",
                              .title = "Use of the links over the step, by tier",
                              .sentence = "The share of their capacity that the links of a tier carry, averaged over "
                                          "the links and over equal intervals of the step; the fullest link is in the "
                                          "table."}));
  }
  if (!curves.links.empty() && !curves.links.front().mean.empty()) {
    panels.push_back(use_map(curves, curves.links,
                             {.id = "link-use",
                              .title = "Busiest links over the step",
                              .sentence = "The links that carry most over the run, busiest first; links with equal "
                                          "loads are one row."}));
  }
  return panels;
}

}  // namespace ringwright::planning
