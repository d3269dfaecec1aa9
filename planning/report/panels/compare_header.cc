// The head of a comparison: the step time of each side, and what makes the difference.
#include <cmath>

#include <fmt/format.h>

#include "planning/report/builtin_panels.h"
#include "planning/report/cause_rows.h"
#include "planning/report/scales.h"

namespace ringwright::planning {
namespace {

std::string difference_text(const JsonValue& difference, const std::string& from, const std::string& to, double base) {
  const double change = difference["change_ps"].number().value_or(0.0) / 1e12;
  std::string text =
      fmt::format("{} takes {} {} than {}", to, seconds_text(std::abs(change)), change < 0.0 ? "less" : "more", from);
  if (base > 0.0) text += fmt::format(" ({:+.1f} %)", 100.0 * change / base);
  const CauseRow* largest = nullptr;
  const std::vector<CauseRow> rows = cause_rows(difference["changes_ps"]);
  for (const CauseRow& row : rows) {
    if (largest == nullptr || std::abs(row.seconds) > std::abs(largest->seconds)) largest = &row;
  }
  if (largest != nullptr && std::abs(largest->seconds) > 0.0) {
    text += fmt::format("; the largest change is {}: {}{}", largest->cause, largest->seconds < 0.0 ? "-" : "+",
                        seconds_text(std::abs(largest->seconds)));
  }
  return text + ".";
}

}  // namespace

ReportSection compare_header(const ResultInput& input) {
  const std::vector<JsonValue>& sides = input.json["sides"].list();
  ReportSection section{.title = "Comparison of " + (sides.empty() ? std::string() : sides.front()["source"].text())};
  for (const JsonValue& side : sides) {
    if (&side != &sides.front()) section.title += (&side == &sides[1] ? " and " : ", ") + side["source"].text();
    const auto mfu = side["mfu"].number();
    section.figures.push_back({.name = side["source"].text().empty() ? side["name"].text() : side["source"].text(),
                               .value = seconds_text(side["step_time_s"].number().value_or(0.0)),
                               .remark = mfu ? "MFU " + percent_text(*mfu) : ""});
  }
  section.subtitle = "Where the difference in step time comes from";
  for (const JsonValue& difference : input.json["differences"].list()) {
    const auto from = static_cast<std::size_t>(difference["from"].number().value_or(0.0));
    const auto to = static_cast<std::size_t>(difference["to"].number().value_or(0.0));
    if (from >= sides.size() || to >= sides.size()) continue;
    section.sentences.push_back(difference_text(difference, sides[from]["source"].text(), sides[to]["source"].text(),
                                                sides[from]["step_time_s"].number().value_or(0.0)));
  }
  return section;
}

}  // namespace ringwright::planning
