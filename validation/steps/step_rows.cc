#include "validation/steps/step_rows.h"

#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include "core/base/shared_folder.h"
#include "validation/tables/table_cells.h"

namespace ringwright::validation {
namespace {

constexpr std::array<std::string_view, 2> kStepHeader{"note", "source"};
constexpr std::array<std::string_view, 9> kStepColumns{"id",     "name",      "group",          "scenario", "set",
                                                       "step_s", "evaluated", "evaluation_set", "note"};
constexpr std::array<std::string_view, 3> kStepCells{"id", "name", "step_s"};

// A shipped name, or a file relative to the table.
std::string scenario_path(const std::string& table, const std::string& name) {
  if (!name.ends_with(".yaml")) return shared_folder("configs") + "/scenarios/" + name + ".yaml";
  const std::filesystem::path path(name);
  return path.is_absolute() ? name : (std::filesystem::path(table).parent_path() / path).string();
}

void check_step(TableCells& cells, const CsvRow& line, const MeasuredStep& step) {
  const auto refuse = [&](std::string_view column, std::string message, std::string hint) {
    cells.refuse_cell(line, column, "'" + step.id + "' " + message, std::move(hint));
  };
  if (!(step.seconds > 0.0)) refuse("step_s", "has no time", "seconds of a step, above 0");
  if (step.scenario.empty() && step.note.empty())
    refuse("id", "is not simulated and does not say why", "fill the column scenario, or note");
  if ((step.evaluated > 0.0) == step.evaluation.empty() && !step.scenario.empty())
    refuse("id", "has only one of evaluated and evaluation_set", "fill both, or neither");
}

}  // namespace

Result<StepTable> read_step_table(const std::string& path) {
  const auto csv = read_csv(path);
  if (!csv) return tl::unexpected(csv.error());
  TableCells cells(*csv, {.of = "steps",
                          .header = kStepHeader,
                          .columns = kStepColumns,
                          .needed = kStepCells,
                          .page = "docs/validation-steps.md"});
  StepTable table{.file = path, .source = cells.source(), .rows = {}};
  for (const CsvRow& line : csv->rows) {
    cells.check_row(line);
    const std::string scenario = cells.text(line, "scenario");
    MeasuredStep step{.id = cells.text(line, "id"),
                      .name = cells.text(line, "name"),
                      .group = cells.text(line, "group"),
                      .scenario = scenario.empty() ? "" : scenario_path(path, scenario),
                      .settings = cells.settings(line, "set"),
                      .seconds = cells.number(line, "step_s", 0.0, 0.0),
                      .evaluated = cells.number(line, "evaluated", 0.0, 0.0),
                      .evaluation = cells.settings(line, "evaluation_set"),
                      .note = cells.text(line, "note"),
                      .place = {.file = path, .line = line.line}};
    check_step(cells, line, step);
    table.rows.push_back(std::move(step));
  }
  if (cells.problems().has_errors()) return tl::unexpected(std::move(cells.problems()));
  return table;
}

std::string command_of(const MeasuredStep& step) {
  std::string text = "ringwright run " + std::filesystem::path(step.scenario).stem().string();
  for (const std::string& setting : step.settings) text += " --set '" + setting + "'";
  return text;
}

}  // namespace ringwright::validation
