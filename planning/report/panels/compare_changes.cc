// The waterfall from one step to another: signed changes by cause, which add up exactly; and the values that differ.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "planning/report/builtin_panels.h"
#include "planning/report/cause_rows.h"
#include "planning/report/scales.h"

namespace ringwright::planning {
namespace {

const JsonValue& side_of(const ResultInput& result, const JsonValue& difference, std::string_view end) {
  static const JsonValue kUnknownSide;
  const std::vector<JsonValue>& sides = result.json["sides"].list();
  const double index = difference[end].number().value_or(-1.0);
  return index >= 0.0 && index < static_cast<double>(sides.size()) ? sides[static_cast<std::size_t>(index)]
                                                                   : kUnknownSide;
}

Panel changes_panel(const ResultInput& result, const JsonValue& difference, std::size_t index) {
  const JsonValue &from = side_of(result, difference, "from"), &to = side_of(result, difference, "to");
  const double before = from["step_time_s"].number_or_unknown(), after = to["step_time_s"].number_or_unknown();
  const UnitScale scale = time_scale(std::max(before, after));
  std::vector<CauseRow> rows = cause_rows(difference["changes_ps"]);
  std::erase_if(rows, [](const CauseRow& row) { return !(std::abs(row.seconds) > 0.0); });
  std::ranges::stable_sort(
      rows, [](const CauseRow& a, const CauseRow& b) { return std::abs(a.seconds) > std::abs(b.seconds); });
  PanelColumn cause = text_column("cause"), change = number_column("time", std::string(scale.unit)),
              share = number_column("of the first step", "%");
  const auto add = [&](const std::string& name, double seconds) {
    texts(cause).push_back(name);
    numbers(change).push_back(seconds * scale.factor);
    numbers(share).push_back(100.0 * seconds / before);
  };
  add(from["source"].text(), before);
  for (const CauseRow& row : rows) add(row.cause, row.seconds);
  add(to["source"].text(), after);
  return {.id = fmt::format("changes-{}", index + 1),
          .title = fmt::format("From {} to {}", from["source"].text(), to["source"].text()),
          .sentence =
              "Each bar is the change of one cause, the largest first; together they lead from the first step "
              "time to the second, exactly.",
          .chart = Chart::kChanges,
          .columns = {cause, change, share},
          .wide = true};
}

}  // namespace

std::vector<Panel> compare_changes(const ResultInput& result) {
  std::vector<Panel> panels;
  for (const JsonValue& difference : result.json["differences"].list()) {
    panels.push_back(changes_panel(result, difference, panels.size()));
  }
  return panels;
}

std::vector<Panel> compare_parts(const ResultInput& result) {
  std::vector<NamedCauses> sides;
  for (const JsonValue& side : result.json["sides"].list()) {
    sides.push_back({.name = side["source"].text(), .rows = cause_rows(side["parts_ps"])});
  }
  Panel panel = stacked_causes(sides, "step");
  panel.id = "parts";
  panel.title = "Where each step goes";
  panel.sentence = "Averages over all GPUs: computing by kernel family, exposed communication, waiting.";
  panel.wide = true;
  return {panel};
}

std::vector<Panel> compare_values(const ResultInput& result) {
  std::vector<Panel> panels;
  for (const JsonValue& difference : result.json["differences"].list()) {
    const std::string &from = side_of(result, difference, "from")["source"].text(),
                      &to = side_of(result, difference, "to")["source"].text();
    PanelColumn key = text_column("key"), first = text_column(from), second = text_column(to);
    for (const JsonValue& value : difference["values"].list()) {
      texts(key).push_back(value["key"].text());
      texts(first).push_back(value["a"].text());
      texts(second).push_back(value["b"].text());
    }
    if (key.size() == 0) continue;
    panels.push_back({.id = fmt::format("values-{}", panels.size() + 1),
                      .title = "Values that differ",
                      .sentence = "Every value of the configuration that is not the same on both sides.",
                      .chart = Chart::kTable,
                      .columns = {key, first, second},
                      .wide = true});
  }
  return panels;
}

}  // namespace ringwright::planning
