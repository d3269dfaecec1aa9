// The layouts of a search on parallel coordinates: an axis for each choice.
#include <algorithm>
#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "planning/report/builtin_panels.h"
#include "planning/report/layout_table.h"
#include "planning/report/scales.h"

namespace ringwright::planning {
namespace {

constexpr std::size_t kMostLines = 300;

}  // namespace

std::vector<Panel> search_axes(const ResultInput& result) {
  std::vector<ListedLayout> layouts = listed_layouts(result.json);
  const std::vector<std::string> axes = varied_axes(result.json);
  if (layouts.size() < 2 || axes.empty()) return {};
  const std::size_t all = layouts.size();
  if (all > kMostLines) layouts.resize(kMostLines);
  double slowest = 0.0, largest = 0.0;
  for (const ListedLayout& layout : layouts) {
    slowest = std::max(slowest, layout.seconds);
    largest = std::max(largest, layout.memory_bytes);
  }
  const UnitScale times = time_scale(slowest), sizes = byte_scale(largest);
  PanelColumn time = number_column("step time", std::string(times.unit)),
              memory = number_column("memory", std::string(sizes.unit));
  for (const ListedLayout& layout : layouts) {
    numbers(time).push_back(layout.seconds * times.factor);
    numbers(memory).push_back(layout.memory_bytes * sizes.factor);
  }
  Panel panel{.id = "search-axes",
              .title = "What the layouts chose",
              .sentence = "Each line is a layout; its colour is the step time. Drag along an axis to select lines.",
              .chart = Chart::kParallel,
              .columns = {time},
              .wide = true};
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    PanelColumn column = text_column(axes[axis]);
    for (const ListedLayout& layout : layouts) texts(column).push_back(layout.values[axis]);
    panel.columns.push_back(std::move(column));
  }
  panel.columns.push_back(memory);
  if (all > kMostLines) {
    panel.note = fmt::format("The best {} of {} layouts.", kMostLines, count_text(static_cast<double>(all)));
  }
  return {panel};
}

}  // namespace ringwright::planning
