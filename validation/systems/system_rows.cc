#include "validation/systems/system_rows.h"

#include <array>
#include <cmath>

#include "validation/systems/system_figures.h"
#include "validation/tables/table_cells.h"

namespace ringwright::validation {
namespace {

constexpr double kRounding = 1e-3;  // of an exact check
constexpr std::array<std::string_view, 2> kSystemHeader{"note", "source"};
constexpr std::array<std::string_view, 12> kSystemColumns{"id",     "name",  "run",      "scenario",  "set",    "base",
                                                          "figure", "check", "expected", "tolerance", "source", "note"};
constexpr std::array<std::string_view, 3> kSystemCells{"id", "name", "run"};
constexpr std::array kSystemRuns{TableWord<SystemRun>{"none", SystemRun::kNone},
                                 TableWord<SystemRun>{"step", SystemRun::kStep},
                                 TableWord<SystemRun>{"goodput", SystemRun::kGoodput},
                                 TableWord<SystemRun>{"collective", SystemRun::kCollective},
                                 TableWord<SystemRun>{"jobs", SystemRun::kJobs},
                                 TableWord<SystemRun>{"servers", SystemRun::kServers},
                                 TableWord<SystemRun>{"embeddings", SystemRun::kEmbeddings},
                                 TableWord<SystemRun>{"cluster", SystemRun::kCluster},
                                 TableWord<SystemRun>{"probe", SystemRun::kProbe},
                                 TableWord<SystemRun>{"tune", SystemRun::kTune},
                                 TableWord<SystemRun>{"adapt", SystemRun::kAdapt}};
constexpr std::array kSystemChecks{
    TableWord<SystemCheck>{"exact", SystemCheck::kExact}, TableWord<SystemCheck>{"within", SystemCheck::kWithin},
    TableWord<SystemCheck>{"at least", SystemCheck::kAtLeast}, TableWord<SystemCheck>{"at most", SystemCheck::kAtMost},
    TableWord<SystemCheck>{"direction", SystemCheck::kDirection}};

void check_system_row(TableCells& cells, const CsvRow& line, const SystemRow& row) {
  const auto refuse = [&](std::string message, std::string hint) {
    cells.problems().add({.severity = Severity::kError,
                          .code = "E560",
                          .place = row.place,
                          .message = "'" + row.id + "' " + message,
                          .excerpt = line.raw,
                          .hint = std::move(hint)});
  };
  if (row.run == SystemRun::kNone) {
    if (row.note.empty()) refuse("runs nothing and does not say why", "fill the column note");
    if (!row.scenario.empty() || !row.figure.empty()) refuse("runs nothing but has a figure", "set run to step");
    return;
  }
  if (row.scenario.empty()) refuse("names no scenario", "fill the column scenario");
  if (row.source.empty()) refuse("has no source of its expected figure", "fill the column source");
  if (cells.cell(line, "check") == nullptr || cells.cell(line, "expected") == nullptr) {
    refuse("has no check", "fill the columns check and expected");
  }
  if (!is_system_figure(row.run, row.figure)) {
    refuse("has the unknown figure '" + row.figure + "'", system_figure_names(row.run));
  }
  if (row.check == SystemCheck::kWithin && !(row.tolerance > 0.0)) {
    refuse("is checked within no tolerance", "fill the column tolerance, a ratio such as 0.1");
  }
  if (row.check == SystemCheck::kDirection && (row.base.empty() || !(row.expected < 1.0 || row.expected > 1.0))) {
    refuse("has no direction", "fill the column base, and expect a ratio other than 1");
  }
}

std::string command_begin(const SystemRow& row) {
  if (row.run == SystemRun::kStep) return "ringwright run " + row.scenario;
  if (row.run == SystemRun::kGoodput) return "ringwright goodput " + row.scenario;
  if (row.run == SystemRun::kJobs) return "ringwright jobs " + row.scenario;
  if (row.run == SystemRun::kServers) {
    return (row.figure == "plan_gain" ? "ringwright servers --plan " : "ringwright servers ") + row.scenario;
  }
  if (row.run == SystemRun::kEmbeddings) return "ringwright embeddings " + row.scenario;
  if (row.run == SystemRun::kCluster) return "ringwright cluster " + row.scenario;
  if (row.run == SystemRun::kProbe) return "ringwright probe " + row.scenario;
  if (row.run == SystemRun::kAdapt) return "ringwright adapt " + row.scenario;
  if (row.run == SystemRun::kTune) return "ringwright tune --step " + row.scenario;
  const auto call = system_call(row.figure);
  if (!call) return {};
  const std::string bytes = std::to_string(call->bytes.count());
  return "ringwright collective " + row.scenario + " " + call->operation + " -b " + bytes + " -e " + bytes;
}

}  // namespace

Result<std::vector<SystemRow>> read_system_rows(const std::string& path) {
  const auto csv = read_csv(path);
  if (!csv) return tl::unexpected(csv.error());
  TableCells cells(*csv, {.of = "systems",
                          .header = kSystemHeader,
                          .columns = kSystemColumns,
                          .needed = kSystemCells,
                          .page = "docs/systems.md"});
  std::vector<SystemRow> rows;
  for (const CsvRow& line : csv->rows) {
    cells.check_row(line);
    SystemRow row{.id = cells.text(line, "id"),
                  .name = cells.text(line, "name"),
                  .run = cells.word(line, "run", SystemRun::kNone, kSystemRuns),
                  .scenario = cells.text(line, "scenario"),
                  .settings = cells.settings(line, "set"),
                  .base = cells.settings(line, "base"),
                  .figure = cells.text(line, "figure"),
                  .check = cells.word(line, "check", SystemCheck::kExact, kSystemChecks),
                  .expected = cells.number(line, "expected", 0.0, 0.0),
                  .tolerance = cells.number(line, "tolerance", 0.0, 0.0),
                  .source = cells.text(line, "source"),
                  .note = cells.text(line, "note"),
                  .place = {.file = path, .line = line.line}};
    check_system_row(cells, line, row);
    rows.push_back(std::move(row));
  }
  if (cells.problems().has_errors()) return tl::unexpected(std::move(cells.problems()));
  return rows;
}

std::vector<std::string> commands_of(const SystemRow& row) {
  if (row.run == SystemRun::kNone) return {};
  const auto command = [&row](const std::vector<std::string>& settings) {
    std::string text = command_begin(row);
    for (const std::string& setting : settings) {
      const bool is_phase = setting.starts_with(kPhase);
      text += is_phase ? " --phase '" + setting.substr(kPhase.size()) + "'" : " --set '" + setting + "'";
    }
    return text;
  };
  std::vector<std::string> commands{command(row.settings)};
  if (!row.base.empty()) commands.push_back(command(row.base));
  return commands;
}

bool meets(const SystemRow& row, double figure) {
  switch (row.check) {
    case SystemCheck::kExact: return std::abs(figure - row.expected) <= kRounding * row.expected;
    case SystemCheck::kWithin: return std::abs(figure - row.expected) <= row.tolerance * row.expected;
    case SystemCheck::kAtLeast: return figure >= row.expected;
    case SystemCheck::kAtMost: return figure <= row.expected;
    case SystemCheck::kDirection: return row.expected > 1.0 ? figure > 1.0 : figure < 1.0;
  }
  return false;
}

}  // namespace ringwright::validation
