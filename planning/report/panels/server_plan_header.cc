// The head of a plan of parameter servers: the best number of them, and what it gains over the scenario's.
#include <algorithm>

#include <fmt/format.h>

#include "planning/report/builtin_panels.h"
#include "planning/report/scales.h"

namespace ringwright::planning {
namespace {

std::string plan_text(const JsonValue& plan) {
  const auto some = [&](std::string_view key, std::string_view noun) {
    const double number = plan[key].number_or_unknown();
    return fmt::format("{} {}{}", count_text(number), noun, number > 0.5 && number < 1.5 ? "" : "s");
  };
  return some("servers", "server") + ", " + some("workers", "worker");
}

}  // namespace

ReportSection server_plan_header(const ResultInput& input) {
  const JsonValue& study = input.json;
  ReportSection section{
      .title = study["scenario"].text(),
      .subtitle = fmt::format("How many hosts are parameter servers, with {} updates", study["updates"].text())};
  const std::vector<JsonValue>& tried = study["tried"].list();
  if (tried.empty()) return section;
  const JsonValue* best = &tried.front();
  double moves = -1.0;
  for (const JsonValue& plan : tried) {
    if (!plan["taken"].is_true()) continue;
    best = &plan;
    moves += 1.0;
  }
  section.figures.push_back({.name = "Best plan", .value = plan_text(*best)});
  section.figures.push_back(
      {.name = "Speed", .value = count_text((*best)["samples_per_s"].number_or_unknown()) + " samples/s"});
  section.figures.push_back({.name = "Gain",
                             .value = fmt::format("{:.2f}x", study["gain"].number_or_unknown()),
                             .remark = "over " + plan_text(tried.front()) + ", the scenario's"});
  const double most = std::max(0.0, moves);
  section.sentences.push_back(fmt::format("{} plans are tried, and the job moves {} to a faster one.",
                                          count_text(static_cast<double>(tried.size())),
                                          most > 0.5 && most < 1.5 ? "once" : count_text(most) + " times"));
  return section;
}

}  // namespace ringwright::planning
