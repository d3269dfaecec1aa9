// The head of a search: the best layout, and how many layouts were compared.
#include <fmt/format.h>

#include "core/base/text.h"
#include "planning/report/builtin_panels.h"
#include "planning/report/layout_table.h"
#include "planning/report/scales.h"

namespace ringwright::planning {
namespace {

// "tp 4, pp 2, recompute none": the axes on which layouts differ.
std::string layout_words(const JsonValue& search, const JsonValue& layout) {
  std::vector<std::string> words;
  for (const std::string& axis : varied_axes(search)) words.push_back(axis + " " + layout[axis].text());
  words.push_back(fmt::format("dp {}", layout["dp"].number().value_or(0.0)));
  return join(words, ", ");
}

const JsonValue& prediction_of(const JsonValue& layout) {
  const JsonValue& played = layout["simulated"];
  return played.kind == JsonValue::Kind::kMap ? played : layout["formulas"];
}

void add_own_layout(const JsonValue& search, double best, ReportSection& section) {
  const JsonValue& own = search["own"];
  const JsonValue& layout = own["configuration"];
  if (layout.kind != JsonValue::Kind::kMap) return;
  const auto time = prediction_of(layout)["step_time_s"].number();
  if (!time || best <= 0.0) return;
  section.figures.push_back({.name = "The scenario's own layout",
                             .value = seconds_text(*time),
                             .remark = fmt::format("{:+.1f} % against the best", 100.0 * (*time / best - 1.0))});
}

}  // namespace

ReportSection search_header(const ResultInput& input) {
  const JsonValue& search = input.json;
  ReportSection section{.title = search["scenario"].text(),
                        .subtitle = "Search for the best layout, by " + search["objective"].text()};
  const std::vector<JsonValue>& ranking = search["ranking"].list();
  double best = 0.0;
  if (!ranking.empty()) {
    const JsonValue& prediction = prediction_of(ranking.front());
    best = prediction["step_time_s"].number().value_or(0.0);
    section.figures.push_back(
        {.name = "Best step time", .value = seconds_text(best), .remark = layout_words(search, ranking.front())});
    if (const auto mfu = prediction["mfu"].number()) {
      section.figures.push_back({.name = "MFU", .value = percent_text(*mfu), .remark = "of the best"});
    }
    const double memory = ranking.front()["memory_bytes"].number().value_or(0.0);
    section.figures.push_back(
        {.name = "Memory",
         .value = bytes_text(memory),
         .remark = "of " + bytes_text(search["memory_limit_bytes"].number().value_or(0.0)) + ", of the best"});
  }
  add_own_layout(search, best, section);
  section.figures.push_back({.name = "Layouts",
                             .value = count_text(search["predicted"].number().value_or(0.0)),
                             .remark = fmt::format("predicted, of {} combinations",
                                                   count_text(search["combinations"].number().value_or(0.0)))});
  section.sentences.push_back(fmt::format("{} legal layouts do not fit into memory; {} are equivalent to another one.",
                                          count_text(search["too_large"].number().value_or(0.0)),
                                          count_text(search["same"].number().value_or(0.0))));
  if (const auto tau = search["kendall_tau"].number()) {
    section.sentences.push_back(fmt::format(
        "The best {} were simulated again; formulas rank these with a Kendall's tau of {:.2f} (1: the same order).",
        count_text(search["replayed"].number().value_or(0.0)), *tau));
  }
  for (const JsonValue& word : search["command"].list()) section.command.push_back(word.text());
  return section;
}

}  // namespace ringwright::planning
