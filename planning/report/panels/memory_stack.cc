// What fills the memory of a GPU in each pipeline stage.
#include <algorithm>
#include <utility>

#include "planning/report/builtin_panels.h"
#include "planning/report/memory_role.h"
#include "planning/report/scales.h"

namespace ringwright::planning {
namespace {

// Every item that some row has, in the order of their first row.
std::vector<std::string> memory_items(const std::vector<JsonValue>& stages) {
  std::vector<std::string> items;
  for (const JsonValue& stage : stages) {
    for (const std::string& item : stage["items_bytes"].keys) {
      if (std::ranges::find(items, item) == items.end()) items.push_back(item);
    }
  }
  return items;
}

// A bar for each row, named by `name`, with a part for each item.
void add_stacks(const std::vector<JsonValue>& rows, PanelColumn name, Panel& panel) {
  double most = 0.0;
  for (const JsonValue& row : rows) most = std::max(most, row["total_bytes"].number().value_or(0.0));
  const UnitScale scale = byte_scale(most);
  panel.columns.push_back(std::move(name));
  for (const std::string& item : memory_items(rows)) {
    PanelColumn column = number_column(item, std::string(scale.unit));
    for (const JsonValue& row : rows) {
      numbers(column).push_back(row["items_bytes"][item].number().value_or(0.0) * scale.factor);
    }
    panel.columns.push_back(std::move(column));
  }
  const double capacity = rows.front()["capacity_bytes"].number().value_or(0.0);
  if (capacity > 0.0) panel.marks.push_back({.name = "capacity", .value = capacity * scale.factor});
}

}  // namespace

std::vector<Panel> memory_stack(const ResultInput& result) {
  const std::vector<JsonValue>& stages = result.json["memory"].list();
  if (stages.empty()) return {};
  PanelColumn name = text_column("stage");
  for (const JsonValue& stage : stages) texts(name).push_back(role_of(stage));
  Panel panel{.id = "memory",
              .title = "Memory of a GPU in each stage",
              .sentence = "At the peak of the step. A stage that reaches beyond the line does not fit.",
              .chart = Chart::kBars};
  add_stacks(stages, std::move(name), panel);
  return {panel};
}

// Memory and drives have different capacities: a panel for each.
std::vector<Panel> host_memory(const ResultInput& result) {
  std::vector<Panel> panels;
  for (const JsonValue& row : result.json["hosts"].list()) {
    const std::string& what = row["what"].text();
    PanelColumn name = text_column("host");
    texts(name).push_back("host " + count_text(row["host"].number().value_or(0.0)));
    Panel panel{.id = "host-" + what,
                .title = "Offloaded to the " + what + " of a host",
                .sentence = "What the GPUs of the fullest host store outside their own memory.",
                .chart = Chart::kBars};
    add_stacks({row}, std::move(name), panel);
    panels.push_back(std::move(panel));
  }
  return panels;
}

}  // namespace ringwright::planning
