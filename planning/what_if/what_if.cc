#include "planning/what_if/what_if.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/base/json_text.h"
#include "core/base/text.h"
#include "core/report/text_table.h"
#include "planning/study/each_item.h"
#include "planning/study/idle_settings.h"
#include "planning/study/point_json.h"

namespace ringwright::planning {
namespace {

constexpr double kLeastCause = 1e-4;  // of the step

std::string relative_change(double after, double before) {
  if (!(std::abs(before) > 0.0)) return "-";
  const double percent = (after / before - 1.0) * 100.0;
  return fmt::format("{:+.1f} %", std::abs(percent) < 0.05 ? 0.0 : percent);
}

// The cause that changes most; empty where none changes by a hundredth of a percent of the step.
std::string main_cause(const std::vector<PartChange>& changes, Duration step) {
  const auto size = [](const PartChange& part) { return std::max(part.change(), Duration() - part.change()); };
  const auto largest = std::ranges::max_element(changes, {}, size);
  if (largest == changes.end() || ratio(size(*largest), step) < kLeastCause) return {};
  return largest->cause + " " + signed_text(largest->change());
}

// Warnings about settings have the codes of errors; the others are about inputs and models.
std::vector<std::string> notes_on(const WhatIfOutcome& outcome, const Point& base) {
  std::vector<std::string> notes = idle_settings(outcome.point, outcome.settings);
  for (const ReportWarning& warning : outcome.point.warnings) {
    const bool known = std::ranges::find(base.warnings, warning.text, &ReportWarning::text) != base.warnings.end();
    if (!known && warning.code.starts_with('E')) notes.push_back(warning.text);
  }
  return notes;
}

std::vector<std::string> outcome_cells(const WhatIfOutcome& outcome, const StepFigures& base, bool costs) {
  const StepFigures& figures = outcome.point.figures;
  std::vector<std::string> cells{outcome.name};
  if (!outcome.point.was_simulated()) {
    cells.resize(costs ? 7 : 6, "-");
    cells.push_back(fmt::format("{}: {}", to_string(outcome.point.status), outcome.point.reason));
    return cells;
  }
  cells.push_back(to_string(figures.step));
  cells.push_back(percent_of(figures.step - base.step, base.step));
  cells.push_back(relative_change(figures.tokens_per_second(), base.tokens_per_second()));
  const auto& use = figures.model_flop_utilisation;
  cells.push_back(use ? fmt::format("{:.1f} %", *use * 100.0) : "-");
  cells.push_back(to_string(figures.memory));
  if (costs) {
    const bool known = figures.cost.usd_per_tera_tokens && base.cost.usd_per_tera_tokens;
    cells.push_back(known ? relative_change(*figures.cost.usd_per_tera_tokens, *base.cost.usd_per_tera_tokens) : "-");
  }
  const bool fits = outcome.point.status == PointStatus::kOk;
  cells.push_back(fits ? main_cause(outcome.changes, base.step) : "does not fit: " + outcome.point.reason);
  return cells;
}

std::string json_outcome(const WhatIfOutcome& outcome, Duration base) {
  std::vector<std::string> settings, changes, notes;
  for (const std::string& setting : outcome.settings) settings.push_back(json_text(setting));
  std::string text = fmt::format("{{\"name\": {}, \"set\": [{}], {}", json_text(outcome.name), join(settings, ", "),
                                 json_point(outcome.point));
  if (outcome.point.was_simulated()) {
    for (const PartChange& part : outcome.changes) {
      changes.push_back(fmt::format("{{\"cause\": {}, \"ps\": {}}}", json_text(part.cause), part.change().count()));
    }
    for (const std::string& note : outcome.notes) notes.push_back(json_text(note));
    if (!notes.empty()) text += fmt::format(", \"notes\": [{}]", join(notes, ", "));
    text += fmt::format(", \"change_ps\": {}, \"changes_ps\": [{}]", (outcome.point.figures.step - base).count(),
                        join(changes, ", "));
  }
  return text + "}";
}

}  // namespace

Result<WhatIfResult> ask_what_ifs(const std::string& path, const std::vector<std::string>& settings,
                                  const WhatIfOptions& options) {
  const auto scenario = configs::load_scenario(path, {.overrides = settings, .share_folders = {}});
  if (!scenario) return tl::unexpected(scenario.error());
  if (scenario->what_ifs.empty()) {
    return tl::unexpected(failure("E331", "the scenario asks no what-ifs", {.file = path},
                                  "what_if: [{name: half the links, set: {cluster.fabric.leaf.oversubscription: 2}}]"));
  }
  WhatIfResult result{.scenario = scenario->name, .base = {}, .outcomes = {}};
  for (const configs::WhatIf& what_if : scenario->what_ifs) {
    WhatIfOutcome& outcome = result.outcomes.emplace_back();
    outcome.name = what_if.name;
    outcome.settings = what_if.settings;
  }
  PointSource source(path, options.store);
  each_item(result.outcomes.size() + 1, options.workers, [&](std::size_t item) {
    std::vector<std::string> all = settings;
    if (item > 0)
      all.insert(all.end(), result.outcomes[item - 1].settings.begin(), result.outcomes[item - 1].settings.end());
    (item == 0 ? result.base : result.outcomes[item - 1].point) = source.simulate(all);
  });
  if (!result.base.was_simulated()) {
    return tl::unexpected(failure(result.base.code, "the scenario itself: " + result.base.reason, {.file = path}));
  }
  for (WhatIfOutcome& outcome : result.outcomes) {
    if (outcome.point.was_simulated()) {
      outcome.notes = notes_on(outcome, result.base);
      outcome.changes = difference(result.base.figures.parts, outcome.point.figures.parts);
    }
  }
  return result;
}

std::string render_what_if_text(const WhatIfResult& result) {
  const StepFigures& base = result.base.figures;
  const bool costs = base.cost.usd_per_tera_tokens.has_value();
  std::vector<std::string> head{"what if", "step", "change", base.processed + "/s", "MFU", "memory"};
  if (costs) head.push_back("$/" + base.processed.substr(0, base.processed.size() - 1));
  head.emplace_back("mostly");
  std::vector<Align> columns(head.size(), Align::kRight);
  columns.front() = columns.back() = Align::kLeft;
  TextTable table(columns);
  table.add_row(head);
  const WhatIfOutcome as_it_is{.name = "as it is", .settings = {}, .point = result.base, .notes = {}, .changes = {}};
  table.add_row(outcome_cells(as_it_is, base, costs));
  for (const WhatIfOutcome& outcome : result.outcomes) table.add_row(outcome_cells(outcome, base, costs));
  std::string text = result.scenario + "\n\n";
  for (const std::string& line : table.lines()) text += "  " + line + "\n";
  bool first = true;
  for (const WhatIfOutcome& outcome : result.outcomes) {
    for (const std::string& note : outcome.notes) {
      text += std::exchange(first, false) ? "\n" : "";
      text += "  " + wrap(fmt::format("{}: {}", outcome.name, note), 96, 4) + "\n";
    }
  }
  return text;
}

std::string render_what_if_json(const WhatIfResult& result) {
  std::vector<std::string> outcomes;
  for (const WhatIfOutcome& outcome : result.outcomes) {
    outcomes.push_back(json_outcome(outcome, result.base.figures.step));
  }
  return fmt::format(
      "{{\n  \"schema\": \"ringwright.what_if/1\",\n  \"tool\": {{\"name\": \"ringwright\", \"version\": {}}},\n"
      "  \"scenario\": {},\n  \"base\": {{{}}},\n  \"what_ifs\": [\n    {}\n  ]\n}}\n",
      json_text(RINGWRIGHT_VERSION), json_text(result.scenario), json_point(result.base), join(outcomes, ",\n    "));
}

}  // namespace ringwright::planning
