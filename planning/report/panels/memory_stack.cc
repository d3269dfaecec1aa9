// What fills the memory of a GPU in each pipeline stage.
#include <algorithm>

#include "planning/report/builtin_panels.h"
#include "planning/report/scales.h"

namespace ringwright::planning {
namespace {

// Every item that some stage has, in the order of their first stage.
std::vector<std::string> memory_items(const std::vector<JsonValue>& stages) {
  std::vector<std::string> items;
  for (const JsonValue& stage : stages) {
    for (const std::string& item : stage["items_bytes"].keys) {
      if (std::ranges::find(items, item) == items.end()) items.push_back(item);
    }
  }
  return items;
}

}  // namespace

std::vector<Panel> memory_stack(const ResultInput& result) {
  const std::vector<JsonValue>& stages = result.json["memory"].list();
  if (stages.empty()) return {};
  double most = 0.0;
  for (const JsonValue& stage : stages) most = std::max(most, stage["total_bytes"].number().value_or(0.0));
  const UnitScale scale = byte_scale(most);
  const std::string unit(scale.unit);
  PanelColumn name = text_column("stage");
  for (const JsonValue& stage : stages) {
    texts(name).push_back("stage " + count_text(stage["stage"].number().value_or(0.0)));
  }
  Panel panel{.id = "memory",
              .title = "Memory of a GPU in each stage",
              .sentence = "At the peak of the step. A stage that reaches beyond the line does not fit.",
              .chart = Chart::kBars,
              .columns = {name}};
  for (const std::string& item : memory_items(stages)) {
    PanelColumn column = number_column(item, unit);
    for (const JsonValue& stage : stages) {
      numbers(column).push_back(stage["items_bytes"][item].number().value_or(0.0) * scale.factor);
    }
    panel.columns.push_back(std::move(column));
  }
  const double capacity = stages.front()["capacity_bytes"].number().value_or(0.0);
  if (capacity > 0.0) panel.marks.push_back({.name = "capacity", .value = capacity * scale.factor});
  return {panel};
}

}  // namespace ringwright::planning
