// The layouts of a search by memory and step time, with those that no other one beats in both.
#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"
#include "planning/report/builtin_panels.h"
#include "planning/report/layout_table.h"
#include "planning/report/scales.h"

namespace ringwright::planning {
namespace {

constexpr std::string_view kFrontSeries = "no other is faster and smaller";
constexpr std::string_view kPlayedSeries = "simulated again";
constexpr std::string_view kFormulaSeries = "by formulas";

}  // namespace

std::vector<Panel> search_front(const ResultInput& result) {
  const std::vector<ListedLayout> layouts = listed_layouts(result.json);
  if (layouts.empty()) return {};
  const std::vector<std::string> axes = varied_axes(result.json);
  const std::vector<bool> front = on_front(layouts);
  double slowest = 0.0, largest = 0.0;
  for (const ListedLayout& layout : layouts) {
    slowest = std::max(slowest, layout.seconds);
    largest = std::max(largest, layout.memory_bytes);
  }
  const UnitScale times = time_scale(slowest), sizes = byte_scale(largest);
  PanelColumn series = text_column("series"),
              memory = number_column("memory of the fullest GPU", std::string(sizes.unit)),
              time = number_column("step time", std::string(times.unit)), rank = number_column("rank", ""),
              layout_text = text_column("layout");
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    const ListedLayout& layout = layouts[i];
    std::vector<std::string> words;
    for (std::size_t axis = 0; axis < axes.size(); ++axis) words.push_back(axes[axis] + " " + layout.values[axis]);
    texts(series).emplace_back(front[i] ? kFrontSeries : (layout.played ? kPlayedSeries : kFormulaSeries));
    numbers(memory).push_back(layout.memory_bytes * sizes.factor);
    numbers(time).push_back(layout.seconds * times.factor);
    numbers(rank).push_back(static_cast<double>(i + 1));
    texts(layout_text).push_back(join(words, ", "));
  }
  return {Panel{.id = "search-front",
                .title = "Step time against memory",
                .sentence = "Each point is a layout that fits. Quick and small is down and left; the front is the "
                            "price in time of a GPU with less memory.",
                .chart = Chart::kPoints,
                .columns = {series, memory, time, rank, layout_text},
                .wide = true,
                .note = static_cast<double>(layouts.size()) < result.json["predicted"].number().value_or(0.0)
                            ? fmt::format("The best {} of {} layouts.", count_text(static_cast<double>(layouts.size())),
                                          count_text(result.json["predicted"].number().value_or(0.0)))
                            : ""}};
}

}  // namespace ringwright::planning
