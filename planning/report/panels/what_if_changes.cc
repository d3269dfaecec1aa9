// What each what-if of a scenario changes: its step time against the scenario as it stands, and by cause.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "core/base/text.h"
#include "planning/report/builtin_panels.h"
#include "planning/report/cause_rows.h"
#include "planning/report/scales.h"

namespace ringwright::planning {
namespace {

constexpr std::string_view kAsItIs = "as it is";
constexpr double kUnknownTime = std::numeric_limits<double>::quiet_NaN();

bool is_possible(const JsonValue& point) {
  return point["status"].text() == "ok";
}

}  // namespace

ReportSection what_if_header(const ResultInput& input) {
  const JsonValue& base = input.json["base"];
  const std::vector<JsonValue>& what_ifs = input.json["what_ifs"].list();
  ReportSection section{.title = input.json["scenario"].text(), .subtitle = "What-ifs against the scenario as it is"};
  const double seconds = base["step_time_s"].number().value_or(0.0);
  section.figures.push_back({.name = "Step time", .value = seconds_text(seconds), .remark = "as it is"});
  if (const auto mfu = base["mfu"].number()) {
    section.figures.push_back({.name = "MFU", .value = percent_text(*mfu), .remark = "as it is"});
  }
  if (const auto price = base["usd_per_1e12_tokens"].number()) {
    section.figures.push_back(
        {.name = "Price of 10^12 " + processed_of(base), .value = count_text(*price) + " USD", .remark = "as it is"});
  }
  section.figures.push_back({.name = "What-ifs", .value = count_text(static_cast<double>(what_ifs.size()))});
  const JsonValue *best = nullptr, *worst = nullptr;
  for (const JsonValue& what_if : what_ifs) {
    if (!is_possible(what_if)) continue;
    const double change = what_if["change_ps"].number().value_or(0.0);
    if (best == nullptr || change < (*best)["change_ps"].number().value_or(0.0)) best = &what_if;
    if (worst == nullptr || change > (*worst)["change_ps"].number().value_or(0.0)) worst = &what_if;
  }
  const auto percent = [&](const JsonValue& what_if) {
    return 100.0 * what_if["change_ps"].number().value_or(0.0) / 1e12 / seconds;
  };
  if (best != nullptr && percent(*best) < 0.0) {
    section.sentences.push_back(
        fmt::format("'{}' saves most: {:+.1f} % of the step time.", (*best)["name"].text(), percent(*best)));
  }
  if (worst != nullptr && percent(*worst) > 0.0) {
    section.sentences.push_back(
        fmt::format("'{}' costs most: {:+.1f} % of the step time.", (*worst)["name"].text(), percent(*worst)));
  }
  return section;
}

std::vector<Panel> what_if_changes(const ResultInput& result) {
  const double base = result.json["base"]["step_time_s"].number_or_unknown();
  const std::string processed = processed_of(result.json["base"]);
  PanelColumn name = text_column("what if"), change = number_column("change of the step time", "%"),
              time = number_column("step time", "s"), tokens = number_column(processed + "/s", ""),
              mfu = number_column("MFU", "% of peak"), memory = number_column("memory", "GiB"),
              price = number_column("price of 10^12 " + processed, "USD"), set = text_column("changed values"),
              reason = text_column("impossible"), notes = text_column("remarks");
  for (const JsonValue& what_if : result.json["what_ifs"].list()) {
    const double seconds = is_possible(what_if) ? what_if["step_time_s"].number_or_unknown() : kUnknownTime;
    texts(name).push_back(what_if["name"].text());
    numbers(change).push_back(100.0 * (seconds / base - 1.0));
    numbers(time).push_back(seconds);
    numbers(tokens).push_back(what_if["tokens_per_s"].number_or_unknown());
    numbers(mfu).push_back(100.0 * what_if["mfu"].number_or_unknown());
    numbers(memory).push_back(what_if["memory_bytes"].number_or_unknown() / 1073741824.0);
    numbers(price).push_back(what_if["usd_per_1e12_tokens"].number_or_unknown());
    texts(set).push_back(what_if["set"].joined(", "));
    texts(notes).push_back(what_if["notes"].joined("; "));
    texts(reason).push_back(is_possible(what_if) ? "" : what_if["status"].text() + ": " + what_if["reason"].text());
  }
  if (name.size() == 0) return {};
  return {Panel{.id = "what-if-changes",
                .title = "Change of the step time",
                .sentence = "Against the scenario as it is; to the left is faster.",
                .chart = Chart::kBars,
                .columns = {name, change, time, tokens, mfu, memory, price, set, reason, notes},
                .wide = true,
                .note = std::ranges::all_of(texts(reason), [](const std::string& text) { return text.empty(); })
                            ? ""
                            : "What is impossible has no bar; the table has its reason."}};
}

std::vector<Panel> what_if_parts(const ResultInput& result) {
  std::vector<NamedCauses> entries = {
      {.name = std::string(kAsItIs), .rows = cause_rows(result.json["base"]["parts_ps"])}};
  for (const JsonValue& what_if : result.json["what_ifs"].list()) {
    if (!is_possible(what_if)) continue;
    // A change by cause on top of the base: causes that the base does not have are the change alone.
    NamedCauses entry{.name = what_if["name"].text(), .rows = cause_rows(what_if["changes_ps"])};
    for (CauseRow& row : entry.rows) {
      const auto before = std::ranges::find(entries.front().rows, row.cause, &CauseRow::cause);
      if (before != entries.front().rows.end()) row.seconds += before->seconds;
    }
    entries.push_back(std::move(entry));
  }
  Panel panel = stacked_causes(entries, "what if");
  panel.id = "what-if-parts";
  panel.title = "Where each step goes";
  panel.sentence = "Averages over all GPUs: computing by kernel family, exposed communication, waiting.";
  panel.wide = true;
  return {panel};
}

}  // namespace ringwright::planning
