// What each choice of a search costs: the fastest layout with it, if everything else is chosen for it.
#include <limits>

#include <fmt/format.h>

#include "planning/report/builtin_panels.h"
#include "planning/report/scales.h"

namespace ringwright::planning {

std::vector<Panel> search_choices(const ResultInput& result) {
  PanelColumn choice = text_column("choice"), slower = number_column("slower than the fastest", "%"),
              step = number_column("step time", "s"), fit = number_column("layouts that fit", ""),
              large = number_column("too large", "");
  const double fastest = result.json["bound"]["quickest_s"].number_or_unknown();
  for (const JsonValue& entry : result.json["choices"].list()) {
    const double seconds = entry["best"]["formulas"]["step_time_s"].number_or_unknown();
    texts(choice).push_back(entry["axis"].text() + " " + entry["value"].text());
    numbers(slower).push_back(100.0 * (seconds / fastest - 1.0));
    numbers(step).push_back(seconds);
    numbers(fit).push_back(entry["fit"].number_or_unknown());
    numbers(large).push_back(entry["too_large"].number_or_unknown());
  }
  if (choice.size() == 0) return {};
  const double computing = result.json["bound"]["computing_s"].number_or_unknown();
  return {Panel{.id = "search-choices",
                .title = "What each choice costs",
                .sentence = fmt::format(
                    "The fastest layout with each choice, by formulas, whatever its other choices are. No layout can "
                    "be faster than the {} that one of them computes; the fastest takes {}.",
                    seconds_text(computing), seconds_text(fastest)),
                .chart = Chart::kBars,
                .columns = {choice, slower, step, fit, large},
                .wide = true,
                .note = "A choice without a bar has no layout that fits."}};
}

}  // namespace ringwright::planning
