#include "planning/report/panel.h"

#include <utility>

namespace ringwright::planning {

std::string_view to_string(Chart chart) {
  switch (chart) {
    case Chart::kWaterfall: return "waterfall";
    case Chart::kChanges: return "changes";
    case Chart::kBars: return "bars";
    case Chart::kTornado: return "tornado";
    case Chart::kLines: return "lines";
    case Chart::kPoints: return "points";
    case Chart::kGantt: return "gantt";
    case Chart::kHeatMap: return "heatmap";
    case Chart::kTimeMap: return "timemap";
    case Chart::kParallel: return "parallel";
    case Chart::kTable: return "table";
  }
  return "";
}

std::size_t PanelColumn::size() const {
  return std::visit([](const auto& values) { return values.size(); }, cells);
}

PanelColumn number_column(std::string name, std::string unit) {
  return {.name = std::move(name), .unit = std::move(unit), .cells = std::vector<double>()};
}

PanelColumn text_column(std::string name) {
  return {.name = std::move(name), .unit = {}, .cells = std::vector<std::string>()};
}

std::vector<double>& numbers(PanelColumn& column) {
  return std::get<std::vector<double>>(column.cells);
}

std::vector<std::string>& texts(PanelColumn& column) {
  return std::get<std::vector<std::string>>(column.cells);
}

}  // namespace ringwright::planning
