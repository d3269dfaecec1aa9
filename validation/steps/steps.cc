// Validation against measured steps of any workload that a scenario describes: recommendation models, layer tables.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/json_text.h"
#include "core/base/text.h"
#include "core/report/text_table.h"
#include "planning/study/each_item.h"
#include "planning/study/point.h"
#include "validation/builtin.h"
#include "validation/steps/step_rows.h"
#include "validation/tables/shipped_files.h"

namespace ringwright::validation {
namespace {

using Settings = std::vector<std::string>;

// A scenario with its settings, which several rows may have measured.
struct StepCase {
  std::string scenario;
  Settings settings;
  friend auto operator<=>(const StepCase&, const StepCase&) = default;
};

struct ComparedStep {
  MeasuredStep row;
  std::size_t table = 0;
  std::optional<double> predicted;  // seconds
  std::string refusal;              // why there is none

  [[nodiscard]] double error() const { return *predicted / row.seconds - 1.0; }
};

class StepCases {
 public:
  std::size_t number_of(const MeasuredStep& row, const Settings& more) {
    StepCase one{.scenario = row.scenario, .settings = row.settings};
    one.settings.insert(one.settings.end(), more.begin(), more.end());
    const auto [known, is_new] = numbers_.try_emplace(one, cases_.size());
    if (is_new) cases_.push_back(std::move(one));
    return known->second;
  }

  void simulate(const ValidationRequest& request) {
    points_.resize(cases_.size());
    planning::each_item(cases_.size(), {.progress = request.progress}, [&](std::size_t i) {
      Settings settings = cases_[i].settings;
      settings.insert(settings.end(), request.overrides.begin(), request.overrides.end());
      points_[i] = planning::PointSource(cases_[i].scenario).simulate(settings);
    });
  }

  [[nodiscard]] const planning::Point& operator[](std::size_t number) const { return points_[number]; }

 private:
  std::map<StepCase, std::size_t> numbers_;
  std::vector<StepCase> cases_;
  std::vector<planning::Point> points_;
};

struct StepGroup {
  std::string name;
  std::size_t rows = 0;
  double measured = 0.0, predicted = 0.0;  // seconds, sums
  double absolute = 0.0, with_sign = 0.0;  // sums of errors

  void add(const ComparedStep& step) {
    ++rows;
    measured += step.row.seconds;
    predicted += *step.predicted;
    absolute += std::abs(step.error());
    with_sign += step.error();
  }
  [[nodiscard]] double mean(double sum) const { return sum / static_cast<double>(rows); }
};

// Of the rows of one table, in the order of their first rows.
std::vector<StepGroup> groups_of(const std::vector<ComparedStep>& steps, std::size_t table) {
  std::vector<StepGroup> groups;
  for (const ComparedStep& step : steps) {
    if (step.table != table || !step.predicted) continue;
    auto known = std::ranges::find(groups, step.row.group, &StepGroup::name);
    if (known == groups.end()) known = groups.insert(groups.end(), {.name = step.row.group});
    known->add(step);
  }
  return groups;
}

// Each group counts once.
double mean_error(const std::vector<StepGroup>& groups, double StepGroup::* sum) {
  double all = 0.0;
  for (const StepGroup& group : groups) all += group.mean(group.*sum);
  return groups.empty() ? 0.0 : all / static_cast<double>(groups.size());
}

std::string steps_text(const std::vector<StepTable>& tables, const std::vector<ComparedStep>& steps) {
  std::string text;
  for (std::size_t number = 0; number < tables.size(); ++number) {
    const std::vector<StepGroup> groups = groups_of(steps, number);
    TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kRight});
    table.add_row({"group", "rows", "measured ms", "predicted ms", "mean error", "signed"});
    const auto percent = [](double ratio) { return fmt::format("{:.1f} %", 100.0 * ratio); };
    const auto with_sign = [](double ratio) { return fmt::format("{:+.1f} %", 100.0 * ratio); };
    for (const StepGroup& group : groups) {
      table.add_row({group.name, std::to_string(group.rows), fmt::format("{:.3f}", 1e3 * group.mean(group.measured)),
                     fmt::format("{:.3f}", 1e3 * group.mean(group.predicted)), percent(group.mean(group.absolute)),
                     with_sign(group.mean(group.with_sign))});
    }
    table.add_row({"mean over groups", "", "", "", percent(mean_error(groups, &StepGroup::absolute)),
                   with_sign(mean_error(groups, &StepGroup::with_sign))});
    text += fmt::format("  {}\n", tables[number].source);
    for (const std::string& line : table.lines()) text += "  " + line + "\n";
    text += "\n";
  }
  for (const ComparedStep& step : steps) {
    if (step.predicted) continue;
    text += fmt::format("  not compared: {} ({}): {}\n", step.row.id, step.row.name, step.refusal);
  }
  return text;
}

std::string steps_json(const std::vector<ComparedStep>& steps) {
  std::vector<std::string> rows;
  for (const ComparedStep& step : steps) {
    const std::string head = fmt::format("{{\"id\": {}, \"name\": {}, \"group\": {}, \"measured_s\": {}",
                                         json_text(step.row.id), json_text(step.row.name), json_text(step.row.group),
                                         step.row.seconds);
    rows.push_back(step.predicted ? fmt::format("{}, \"predicted_s\": {}, \"error\": {}, \"command\": {}}}", head,
                                                *step.predicted, step.error(), json_text(command_of(step.row)))
                                  : fmt::format("{}, \"not_compared\": {}}}", head, json_text(step.refusal)));
  }
  return fmt::format("{{\"kind\": \"steps\", \"rows\": [\n  {}\n]}}\n", join(rows, ",\n  "));
}

std::string steps_page(const std::vector<ComparedStep>& steps, const std::string& text) {
  std::string page =
      "# Measured steps of MLPerf Training\n\n"
      "Made by `ringwright validate steps --markdown docs/validation-steps.md` from the tables of `validation/steps`;\n"
      "not by hand. Each row of a table names a scenario and settings, and the measured time of a step. Where that\n"
      "time is the mean over a run with evaluations, so is the predicted one: of the step, and of the step of\n"
      "evaluation for as many samples as the run evaluates for each that it trains. Errors are predicted over\n"
      "measured, less one; every group counts once in the last row. What is modelled, and what is known about the\n"
      "errors: [bert.md](bert.md), [recommendation.md](recommendation.md).\n\n```\n" +
      text + "```\n\n## Rows\n\n| row | measured ms | predicted ms | error | command |\n|---|---:|---:|---:|---|\n";
  for (const ComparedStep& step : steps) {
    if (!step.predicted) continue;
    page += fmt::format("| {} {} | {:.3f} | {:.3f} | {:+.1f} % | `{}` |\n", step.row.id, step.row.name,
                        1e3 * step.row.seconds, 1e3 * *step.predicted, 100.0 * step.error(), command_of(step.row));
  }
  return page;
}

// The mean time of a trained step, with its share of evaluations.
void predict(ComparedStep& step, const StepCases& cases, std::size_t trained, std::optional<std::size_t> evaluated) {
  for (const std::size_t number : {trained, evaluated.value_or(trained)}) {
    if (cases[number].was_simulated()) continue;
    step.refusal = cases[number].reason;
    return;
  }
  step.predicted = to_seconds(cases[trained].figures.step);
  if (!evaluated) return;
  const auto samples = [&](std::size_t number) { return static_cast<double>(cases[number].figures.tokens_per_step); };
  *step.predicted += step.row.evaluated * samples(trained) / samples(*evaluated) *
                     to_seconds(cases[*evaluated].figures.step);
}

}  // namespace

Result<ValidationOutcome> validate_steps(const ValidationRequest& request) {
  std::vector<std::string> files = request.files;
  if (files.empty()) files = files_in(shipped_folder("steps"), ".csv");
  std::vector<StepTable> tables;
  std::vector<ComparedStep> steps;
  StepCases cases;
  std::vector<std::size_t> trained;
  std::vector<std::optional<std::size_t>> evaluated;
  for (const std::string& file : files) {
    auto table = read_step_table(file);
    if (!table) return tl::unexpected(table.error());
    for (MeasuredStep& row : table->rows) {
      const bool runs = !row.scenario.empty();
      trained.push_back(runs ? cases.number_of(row, {}) : 0);
      evaluated.push_back(runs && row.evaluated > 0.0 ? std::optional(cases.number_of(row, row.evaluation))
                                                      : std::nullopt);
      std::string note = row.note;
      steps.push_back({.row = std::move(row), .table = tables.size(), .predicted = {}, .refusal = std::move(note)});
    }
    tables.push_back(std::move(*table));
  }
  cases.simulate(request);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!steps[i].row.scenario.empty()) predict(steps[i], cases, trained[i], evaluated[i]);
  }
  if (std::ranges::none_of(steps, [](const ComparedStep& step) { return step.predicted.has_value(); })) {
    const std::string why = steps.empty() ? "" : ": " + steps.front().refusal;
    return tl::unexpected(failure("E166", "there is no row to compare" + why, {.file = files.front()}));
  }
  ValidationOutcome outcome;
  outcome.text = steps_text(tables, steps);
  outcome.json = steps_json(steps);
  outcome.markdown = steps_page(steps, outcome.text);
  for (std::size_t number = 0; number < tables.size(); ++number) {
    const double error = mean_error(groups_of(steps, number), &StepGroup::absolute);
    if (request.threshold && error > *request.threshold) outcome.passed = false;
  }
  for (const auto& [given, option] : std::array{std::pair(request.cluster.has_value(), "--cluster"),
                                                std::pair(request.profile.has_value(), "--profile")}) {
    if (!given) continue;
    outcome.warnings.add({.severity = Severity::kWarning,
                          .code = "W162",
                          .message = fmt::format("{} has no effect: rows name their scenarios", option)});
  }
  return outcome;
}

}  // namespace ringwright::validation
