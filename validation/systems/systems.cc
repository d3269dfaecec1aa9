// Validation against published systems: one figure for each row of the table, with the check that the source allows.
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "core/base/json_text.h"
#include "core/base/text.h"
#include "core/report/text_table.h"
#include "planning/study/each_item.h"
#include "validation/builtin.h"
#include "validation/systems/system_figures.h"
#include "validation/systems/system_rows.h"
#include "validation/tables/shipped_files.h"

namespace ringwright::validation {
namespace {

struct CheckedSystem {
  SystemRow row;
  double figure = 0.0;

  [[nodiscard]] bool runs() const { return row.run != SystemRun::kNone; }
  [[nodiscard]] bool holds() const { return !runs() || meets(row, figure); }
};

std::string check_words(const SystemRow& row) {
  switch (row.check) {
    case SystemCheck::kExact: return "exact";
    case SystemCheck::kWithin: return fmt::format("within {:g} %", row.tolerance * 100.0);
    case SystemCheck::kAtLeast: return "at least";
    case SystemCheck::kAtMost: return "at most";
    case SystemCheck::kDirection: return "direction";
  }
  return {};
}

std::string figure_words(const SystemRow& row) {
  return row.base.empty() ? row.figure : row.figure + ", ratio";
}

std::string systems_text(const std::vector<CheckedSystem>& systems) {
  TextTable table({Align::kLeft, Align::kLeft, Align::kLeft, Align::kRight, Align::kRight, Align::kLeft, Align::kLeft});
  table.add_row({"row", "system and check", "figure", "expected", "simulated", "check", "result"});
  std::size_t failed = 0;
  std::size_t run = 0;
  for (const CheckedSystem& one : systems) {
    if (!one.runs()) continue;
    ++run;
    if (!one.holds()) ++failed;
    table.add_row({one.row.id, one.row.name, figure_words(one.row), fmt::format("{:.5g}", one.row.expected),
                   fmt::format("{:.5g}", one.figure), check_words(one.row), one.holds() ? "pass" : "FAIL"});
  }
  std::string text;
  for (const std::string& line : table.lines()) text += "  " + line + "\n";
  return text + fmt::format("\n  {} of {} checks pass; {} rows run nothing\n", run - failed, run,
                            systems.size() - run);
}

std::string systems_json(const std::vector<CheckedSystem>& systems) {
  std::vector<std::string> rows;
  for (const CheckedSystem& one : systems) {
    const std::string head =
        fmt::format("{{\"id\": {}, \"name\": {}, \"run\": {}", json_text(one.row.id), json_text(one.row.name),
                    one.runs() ? "true" : "false");
    if (!one.runs()) {
      rows.push_back(fmt::format("{}, \"note\": {}}}", head, json_text(one.row.note)));
      continue;
    }
    rows.push_back(fmt::format(
        "{}, \"figure\": {}, \"check\": {}, \"expected\": {}, \"simulated\": {}, \"passes\": {}, "
        "\"source\": {}}}", head,
        json_text(figure_words(one.row)), json_text(check_words(one.row)), one.row.expected, one.figure,
        one.holds() ? "true" : "false", json_text(one.row.source)));
  }
  return fmt::format("{{\"kind\": \"systems\", \"rows\": [\n  {}\n]}}\n", join(rows, ",\n  "));
}

std::string systems_page(const std::vector<CheckedSystem>& systems, const std::string& text) {
  std::string page =
      "# Published systems: expected, and simulated\n\n"
      "Made by `ringwright validate systems --markdown docs/systems.md` from `validation/systems/systems.csv`; not by "
      "hand.\n\n"
      "* exact: a closed form, met to 0.1 %.\n"
      "* within: a measurement whose setup is published, met to the tolerance.\n"
      "* direction: a ratio that is published for hardware or models that cannot be rebuilt here. Only its sign is\n"
      "  checked; both magnitudes are printed.\n"
      "* at least, at most: bounds.\n\n"
      "A ratio is the figure of the last command of the row over that of the one before it.\n\n```\n" +
      text + "```\n\n## Commands and sources\n\n";
  for (const CheckedSystem& one : systems) {
    if (!one.runs()) continue;
    page += fmt::format("{} {}: {}.{}\n\n", one.row.id, one.row.name, one.row.source,
                        one.row.note.empty() ? "" : " " + one.row.note + ".");
    for (const std::string& command : commands_of(one.row)) page += "    " + command + "\n";
    page += "\n";
  }
  page += "## Rows that run nothing here\n\n";
  for (const CheckedSystem& one : systems) {
    if (!one.runs()) page += fmt::format("* {} {}: {}\n", one.row.id, one.row.name, one.row.note);
  }
  return page;
}

}  // namespace

Result<ValidationOutcome> validate_systems(const ValidationRequest& request) {
  std::vector<std::string> files = request.files;
  if (files.empty()) files = {shipped_folder("systems") + "/systems.csv"};
  std::vector<CheckedSystem> systems;
  for (const std::string& file : files) {
    auto rows = read_system_rows(file);
    if (!rows) return tl::unexpected(rows.error());
    for (SystemRow& row : *rows) systems.push_back({.row = std::move(row)});
  }
  if (std::ranges::none_of(systems, &CheckedSystem::runs)) {
    return tl::unexpected(failure("E166", "there is no row to compare", {.file = files.front()}));
  }
  std::vector<Diagnostics> mistakes(systems.size());
  planning::each_item(systems.size(), {.progress = request.progress}, [&](std::size_t i) {
    if (!systems[i].runs()) return;
    const auto figure = simulated_figure(systems[i].row, request.overrides);
    if (figure) {
      systems[i].figure = *figure;
    } else {
      mistakes[i] = figure.error();
    }
  });
  const auto first = std::ranges::find_if(mistakes, &Diagnostics::has_errors);
  if (first != mistakes.end()) return tl::unexpected(*first);
  ValidationOutcome outcome;
  outcome.text = systems_text(systems);
  outcome.json = systems_json(systems);
  outcome.markdown = systems_page(systems, outcome.text);
  outcome.passed = std::ranges::all_of(systems, &CheckedSystem::holds);
  for (const auto& [given, option] : std::array{std::pair(request.cluster.has_value(), "--cluster"),
                                                std::pair(request.profile.has_value(), "--profile"),
                                                std::pair(request.threshold.has_value(), "--threshold")}) {
    if (!given) continue;
    outcome.warnings.add({.severity = Severity::kWarning,
                          .code = "W162",
                          .message = fmt::format("{} has no effect: rows name their scenarios and checks", option)});
  }
  return outcome;
}

}  // namespace ringwright::validation
