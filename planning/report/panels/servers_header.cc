// The head of parameter servers by how they apply gradients: the fastest way, against an all-reduce, and its staleness.
#include <algorithm>

#include <fmt/format.h>

#include "planning/report/builtin_panels.h"
#include "planning/report/scales.h"

namespace ringwright::planning {
namespace {

double speed_of(const JsonValue& row) {
  return row["samples_per_s"].number().value_or(0.0);
}

// Of updates that wait for all workers and of those that wait for none.
const JsonValue* row_of(const std::vector<JsonValue>& rows, std::string_view updates) {
  const auto found = std::ranges::find_if(rows, [&](const JsonValue& row) { return row["updates"].text() == updates; });
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace

ReportSection servers_header(const ResultInput& input) {
  const JsonValue& study = input.json;
  ReportSection section{.title = study["scenario"].text(),
                        .subtitle = fmt::format("{} of workers and {}, by how gradients are applied",
                                                number_text(study["workers"].number_or_unknown(), "host"),
                                                number_text(study["servers"].number_or_unknown(), "parameter server"))};
  const std::vector<JsonValue>& rows = study["rows"].list();
  if (rows.empty()) return section;
  const JsonValue& best = *std::ranges::max_element(rows, {}, speed_of);
  const double ring = study["ring"]["samples_per_s"].number_or_unknown();
  section.figures.push_back({.name = "Fastest updates", .value = best["updates"].text()});
  section.figures.push_back({.name = "Speed",
                             .value = count_text(speed_of(best)) + " samples/s",
                             .remark = fmt::format("{:.2f}x a ring all-reduce of the workers", speed_of(best) / ring)});
  section.figures.push_back({.name = "Staleness",
                             .value = fmt::format("{:.2f}", best["mean_staleness"].number_or_unknown()),
                             .remark = "updates of others between a pull and its push, in the mean"});
  section.figures.push_back({.name = "Busiest server",
                             .value = percent_text(best["server_busy"].number_or_unknown()),
                             .remark = "of the time of its threads"});
  const JsonValue* const sync = row_of(rows, "sync");
  const JsonValue* const async = row_of(rows, "async");
  if (sync == nullptr || async == nullptr || speed_of(*sync) <= 0.0) return section;
  section.sentences.push_back(fmt::format(
      "Updates that wait for nobody are {:.2f} times as fast as synchronous ones; the slowest worker then does {} of "
      "the steps of the fastest.",
      speed_of(*async) / speed_of(*sync), percent_text((*async)["slowest_of_fastest"].number_or_unknown())));
  return section;
}

}  // namespace ringwright::planning
