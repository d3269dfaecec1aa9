// The head of several jobs on one machine: who slows whom down, and the best placement.
#include <algorithm>

#include <fmt/format.h>

#include "planning/report/builtin_panels.h"
#include "planning/report/scales.h"

namespace ringwright::planning {
namespace {

// Slowdowns that differ by less read the same.
constexpr double kSmallestDifference = 0.0005;

const JsonValue* slowest_job(const JsonValue& arrangement) {
  const JsonValue* slowest = nullptr;
  for (const JsonValue& job : arrangement["jobs"].list()) {
    if (slowest == nullptr || job["slowdown"].number().value_or(0.0) > (*slowest)["slowdown"].number().value_or(0.0)) {
      slowest = &job;
    }
  }
  return slowest;
}

double most_slowdown(const JsonValue& arrangement) {
  const JsonValue* job = slowest_job(arrangement);
  return job == nullptr ? 0.0 : (*job)["slowdown"].number().value_or(0.0);
}

}  // namespace

ReportSection jobs_header(const ResultInput& input) {
  const std::vector<JsonValue>& arrangements = input.json["arrangements"].list();
  ReportSection section{.title = input.json["scenario"].text(), .subtitle = "Several jobs on one machine"};
  section.figures.push_back({.name = "GPUs",
                             .value = count_text(input.json["gpus"].number_or_unknown()),
                             .remark = count_text(input.json["hosts"].number_or_unknown()) + " hosts"});
  for (const JsonValue& job : input.json["too_large"].list()) {
    section.sentences.push_back("Does not fit into the memory of its GPUs: " + job.text() + ".");
  }
  if (arrangements.empty()) return section;
  const JsonValue& given = arrangements.front();
  if (const JsonValue* slowest = slowest_job(given); slowest != nullptr) {
    section.figures.push_back({.name = "Jobs", .value = count_text(static_cast<double>(given["jobs"].list().size()))});
    section.figures.push_back({.name = "Largest slowdown",
                               .value = fmt::format("{:.3f}", most_slowdown(given)),
                               .remark = "of " + (*slowest)["name"].text() + ", " + given["placement"].text()});
    section.figures.push_back({.name = "Contended links",
                               .value = count_text(given["contended_links"].number_or_unknown()),
                               .remark = "carry the traffic of several jobs"});
  } else {
    section.sentences.push_back(
        fmt::format("'{}' cannot be simulated: {}.", given["placement"].text(), given["reason"].text()));
  }
  const JsonValue* best = nullptr;
  for (const JsonValue& arrangement : arrangements) {
    if (most_slowdown(arrangement) <= 0.0) continue;
    if (best == nullptr || most_slowdown(arrangement) < most_slowdown(*best)) best = &arrangement;
  }
  if (best != nullptr && most_slowdown(*best) < most_slowdown(given) - kSmallestDifference) {
    section.sentences.push_back(
        fmt::format("With the placement '{}' the slowest job suffers least: a slowdown of "
                    "{:.3f}.",
                    (*best)["placement"].text(), most_slowdown(*best)));
  }
  return section;
}

}  // namespace ringwright::planning
