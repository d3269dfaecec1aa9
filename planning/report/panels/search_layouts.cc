// The best layouts of a search as a table.
#include "planning/report/builtin_panels.h"
#include "planning/report/layout_table.h"

namespace ringwright::planning {

std::vector<Panel> search_layouts(const ResultInput& result) {
  const std::vector<JsonValue>& ranking = result.json["ranking"].list();
  if (ranking.empty()) return {};
  Panel panel{.id = "search-layouts",
              .title = "The best layouts",
              .sentence = "Ranked by the simulation where a layout was simulated again, else by formulas.",
              .chart = Chart::kTable,
              .wide = true};
  PanelColumn rank = number_column("rank", ""), dp = number_column("dp", ""), memory = number_column("memory", "GiB"),
              played = number_column("step time", "s"), formulas = number_column("by formulas", "s"),
              tokens = number_column("tokens/s per GPU", ""), mfu = number_column("MFU", "%");
  for (std::size_t i = 0; i < ranking.size(); ++i) {
    const JsonValue& layout = ranking[i];
    const JsonValue& best = layout["simulated"].keys.empty() ? layout["formulas"] : layout["simulated"];
    numbers(rank).push_back(static_cast<double>(i + 1));
    numbers(dp).push_back(layout["dp"].number_or_unknown());
    numbers(memory).push_back(layout["memory_bytes"].number_or_unknown() / 1073741824.0);
    numbers(played).push_back(layout["simulated"]["step_time_s"].number_or_unknown());
    numbers(formulas).push_back(layout["formulas"]["step_time_s"].number_or_unknown());
    numbers(tokens).push_back(best["tokens_per_s_per_gpu"].number_or_unknown());
    numbers(mfu).push_back(best["mfu"].number_or_unknown() * 100.0);
  }
  panel.columns.push_back(rank);
  for (const std::string& axis : varied_axes(result.json)) {
    PanelColumn column = text_column(axis);
    for (const JsonValue& layout : ranking) texts(column).push_back(layout[axis].text());
    panel.columns.push_back(std::move(column));
  }
  for (const PanelColumn& column : {dp, played, formulas, tokens, mfu, memory}) panel.columns.push_back(column);
  return {panel};
}

}  // namespace ringwright::planning
