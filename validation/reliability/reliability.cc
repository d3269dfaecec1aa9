// Validation against jobs with failures: effective training times, failures and times that others measured or
// published.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "core/base/json_text.h"
#include "core/base/text.h"
#include "core/report/text_table.h"
#include "validation/builtin.h"
#include "validation/reliability/reliability_cases.h"
#include "validation/tables/shipped_files.h"

namespace ringwright::validation {
namespace {

constexpr double kReliabilityThreshold = 0.15;  // mean of the absolute errors of outcomes

struct SimulatedCase {
  ReliabilityCase measured;
  double figure = 0.0;

  [[nodiscard]] double error() const { return figure / measured.measured - 1.0; }
  [[nodiscard]] bool holds() const { return figure >= measured.measured; }
};

// Next to the table, else a shipped goodput file.
std::string operation_file(const ReliabilityCase& one) {
  const std::filesystem::path near = std::filesystem::path(one.place.file).parent_path() / (one.operation + ".yaml");
  std::error_code ignored;
  return std::filesystem::exists(near, ignored) ? near.string() : one.operation;
}

Result<SimulatedCase> simulate_case(const ReliabilityCase& one, const std::vector<std::string>& overrides) {
  std::vector<std::string> settings = one.settings;
  settings.insert(settings.end(), overrides.begin(), overrides.end());
  const auto result = planning::goodput(
      operation_file(one), {.settings = settings, .workers = {}, .intervals = false, .compare = !one.policy.empty()});
  if (!result) return tl::unexpected(result.error());
  const auto figure = figure_of(*result, one);
  if (!figure)
    return tl::unexpected(failure("E166", "'" + one.id + "' names a policy that was not simulated", one.place));
  return SimulatedCase{.measured = one, .figure = *figure};
}

double mean_error(const std::vector<SimulatedCase>& cases) {
  double sum = 0.0;
  int count = 0;
  for (const SimulatedCase& one : cases) {
    if (one.measured.role != CaseRole::kOutcome) continue;
    sum += std::abs(one.error());
    ++count;
  }
  return count > 0 ? sum / count : 0.0;
}

std::string verdict_of(const SimulatedCase& one) {
  switch (one.measured.role) {
    case CaseRole::kOutcome: return fmt::format("{:+.2f} %", one.error() * 100.0);
    case CaseRole::kBound: return one.holds() ? "above, as measured" : "below, unlike measured";
    case CaseRole::kImplied: return fmt::format("{:+.2f} %, implied", one.error() * 100.0);
  }
  return {};
}

std::string text_of(const std::vector<SimulatedCase>& cases) {
  TextTable table({Align::kLeft, Align::kLeft, Align::kRight, Align::kRight, Align::kLeft});
  table.add_row({"case", "figure", "measured", "simulated", "error"});
  for (const SimulatedCase& one : cases) {
    const bool bound = one.measured.role == CaseRole::kBound;
    table.add_row({one.measured.id, one.measured.metric,
                   fmt::format("{}{:.5g}", bound ? "> " : "", one.measured.measured), fmt::format("{:.5g}", one.figure),
                   verdict_of(one)});
  }
  const auto outcomes =
      std::ranges::count(cases, CaseRole::kOutcome, [](const SimulatedCase& one) { return one.measured.role; });
  std::string text;
  for (const std::string& line : table.lines()) text += "  " + line + "\n";
  return text +
         fmt::format("\n  Mean of the absolute errors of {} outcomes: {:.2f} %\n", outcomes, mean_error(cases) * 100.0);
}

std::string json_of(const std::vector<SimulatedCase>& cases) {
  std::vector<std::string> rows;
  for (const SimulatedCase& one : cases) {
    rows.push_back(
        fmt::format("{{\"id\": {}, \"metric\": {}, \"measured\": {}, \"simulated\": {}, \"role\": {}, \"source\": {}}}",
                    json_text(one.measured.id), json_text(one.measured.metric), one.measured.measured, one.figure,
                    json_text(one.measured.role == CaseRole::kOutcome ? "outcome"
                              : one.measured.role == CaseRole::kBound ? "bound"
                                                                      : "implied"),
                    json_text(one.measured.source)));
  }
  return fmt::format("{{\"kind\": \"reliability\", \"mean_error\": {}, \"cases\": [\n  {}\n]}}\n", mean_error(cases),
                     join(rows, ",\n  "));
}

std::string markdown_of(const std::vector<SimulatedCase>& cases, const std::string& text) {
  std::string page =
      "# Jobs with failures: measured, and simulated\n\n"
      "Made by `ringwright validate reliability --markdown docs/validation-reliability.md`; not by hand. How a job "
      "is simulated:\n"
      "[goodput.md](goodput.md). A bound says that the source states only \"more than\". Implied: an input was solved "
      "from "
      "this\noutcome, so that the row shows consistency, and is not counted. Rows of AIReSim compare with another "
      "simulator; "
      "its\nreport has 3 to 30 runs a row.\n\n```\n" +
      text + "```\n\nSources and inputs:\n\n";
  for (const SimulatedCase& one : cases) {
    page += fmt::format("* {}: {}; `{}`{}\n", one.measured.id, one.measured.source, one.measured.operation,
                        one.measured.settings.empty() ? "" : " with `" + join(one.measured.settings, "`, `") + "`");
  }
  return page;
}

}  // namespace

Result<ValidationOutcome> validate_reliability(const ValidationRequest& request) {
  std::vector<std::string> files = request.files;
  if (files.empty()) files = {shipped_folder("reliability") + "/cases.csv"};
  std::vector<SimulatedCase> simulated;
  for (const std::string& file : files) {
    const auto cases = read_reliability_cases(file);
    if (!cases) return tl::unexpected(cases.error());
    for (const ReliabilityCase& one : *cases) {
      auto result = simulate_case(one, request.overrides);
      if (!result) return tl::unexpected(result.error());
      simulated.push_back(std::move(*result));
    }
  }
  if (simulated.empty()) {
    return tl::unexpected(failure("E166", "there is no row to compare", {.file = files.front()}));
  }
  const bool bounds = std::ranges::all_of(
      simulated, [](const SimulatedCase& one) { return one.measured.role != CaseRole::kBound || one.holds(); });
  ValidationOutcome outcome;
  outcome.text = text_of(simulated);
  outcome.json = json_of(simulated);
  outcome.markdown = markdown_of(simulated, outcome.text);
  outcome.passed = bounds && mean_error(simulated) <= request.threshold.value_or(kReliabilityThreshold);
  if (request.cluster) {
    outcome.warnings.add({.severity = Severity::kWarning,
                          .code = "W162",
                          .message = "--cluster has no effect: every case names its goodput file"});
  }
  return outcome;
}

}  // namespace ringwright::validation
