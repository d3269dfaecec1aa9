#include "planning/report/layout_table.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace ringwright::planning {
namespace {

ListedLayout listed(const JsonValue& layout, const std::vector<std::string>& axes) {
  ListedLayout entry{.memory_bytes = layout["memory_bytes"].number_or_unknown()};
  for (const std::string& axis : axes) entry.values.push_back(layout[axis].text());
  const std::optional<double> played = layout["simulated"]["step_time_s"].number();
  entry.played = played.has_value();
  entry.seconds = played ? *played : layout["formulas"]["step_time_s"].number_or_unknown();
  return entry;
}

std::size_t column_of(const JsonValue& table, std::string_view name) {
  const std::vector<JsonValue>& columns = table["columns"].list();
  return static_cast<std::size_t>(std::ranges::find(columns, name, &JsonValue::words) - columns.begin());
}

const JsonValue& cell_of(const JsonValue& row, std::size_t column) {
  static const JsonValue kNone;
  return column < row.list().size() ? row.list()[column] : kNone;
}

}  // namespace

std::vector<std::string> varied_axes(const JsonValue& search) {
  std::vector<std::string> axes;
  const JsonValue& all = search["axes"];
  for (std::size_t i = 0; i < all.keys.size(); ++i) {
    if (all.items[i].list().size() > 1) axes.push_back(all.keys[i]);
  }
  return axes;
}

std::vector<ListedLayout> listed_layouts(const JsonValue& search) {
  const std::vector<std::string> axes = varied_axes(search);
  const JsonValue& table = search["layouts"];
  std::vector<ListedLayout> layouts;
  if (table["rows"].list().empty()) {
    for (const JsonValue& layout : search["ranking"].list()) layouts.push_back(listed(layout, axes));
    return layouts;
  }
  std::vector<std::size_t> columns;
  for (const std::string& axis : axes) columns.push_back(column_of(table, axis));
  const std::size_t memory = column_of(table, "memory_bytes");
  const std::size_t formulas = column_of(table, "formulas_step_time_s");
  const std::size_t played = column_of(table, "simulated_step_time_s");
  for (const JsonValue& row : table["rows"].list()) {
    ListedLayout entry{.memory_bytes = cell_of(row, memory).number_or_unknown()};
    for (const std::size_t column : columns) entry.values.push_back(cell_of(row, column).text());
    const std::optional<double> again = cell_of(row, played).number();
    entry.played = again.has_value();
    entry.seconds = again ? *again : cell_of(row, formulas).number_or_unknown();
    layouts.push_back(std::move(entry));
  }
  return layouts;
}

std::vector<bool> on_front(const std::vector<ListedLayout>& layouts) {
  std::vector<std::size_t> order(layouts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    const ListedLayout &x = layouts[a], &y = layouts[b];
    if (x.memory_bytes < y.memory_bytes || y.memory_bytes < x.memory_bytes) return x.memory_bytes < y.memory_bytes;
    return x.seconds < y.seconds || (!(y.seconds < x.seconds) && a < b);
  });
  std::vector<bool> front(layouts.size(), false);
  std::optional<double> fastest;
  for (const std::size_t i : order) {
    if (fastest && !(layouts[i].seconds < *fastest)) continue;
    fastest = layouts[i].seconds;
    front[i] = true;
  }
  return front;
}

}  // namespace ringwright::planning
