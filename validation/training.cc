// Validation against measured training runs: tables of a shared schema, each row played as a scenario.
#include <algorithm>

#include "validation/builtin.h"
#include "validation/csv_table.h"
#include "validation/shipped_files.h"
#include "validation/training_cases.h"
#include "validation/training_conventions.h"
#include "validation/training_report.h"
#include "validation/training_row.h"
#include "validation/training_score.h"

namespace ringwright::validation {
namespace {

struct AllRows {
  std::vector<TrainingRow> rows;
  std::vector<std::string> unused_columns;
};

Result<AllRows> read_all(const std::vector<std::string>& files) {
  AllRows all;
  Diagnostics problems;
  for (const std::string& file : files) {
    const auto table = read_csv(file).and_then([](const CsvTable& csv) { return read_training_rows(csv); });
    if (!table) {
      for (const Diagnostic& diagnostic : table.error().all()) problems.add(diagnostic);
      continue;
    }
    all.rows.insert(all.rows.end(), table->rows.begin(), table->rows.end());
    for (const std::string& name : table->unused_columns) {
      if (std::ranges::find(all.unused_columns, name) == all.unused_columns.end()) all.unused_columns.push_back(name);
    }
  }
  if (problems.has_errors()) return tl::unexpected(std::move(problems));
  return all;
}

}  // namespace

Result<ValidationOutcome> validate_training(const ValidationRequest& request) {
  const std::string folder = shipped_folder("training");
  const auto conventions = read_conventions(folder);
  if (!conventions) return tl::unexpected(conventions.error());
  const bool shipped = request.files.empty();
  const auto all = read_all(shipped ? files_in(folder, ".csv") : request.files);
  if (!all) return tl::unexpected(all.error());

  const std::vector<PlayedRow> rows =
      play_rows(all->rows, *conventions,
                {.overrides = request.overrides, .large = shipped ? LargeRows::kLeftOut : LargeRows::kPlayed});
  const std::vector<SourceScore> scores = score(rows, *conventions, request.threshold);
  const TrainingTables tables{.rows = rows, .scores = scores, .unused_columns = all->unused_columns};
  ValidationOutcome outcome;
  outcome.text = training_text(tables, shipped ? RowDetail::kWorst : RowDetail::kAll);
  outcome.json = training_json(tables);
  outcome.markdown = training_markdown(tables);
  outcome.passed = std::ranges::all_of(scores, &SourceScore::passed);
  if (request.cluster) {
    outcome.warnings.add({.severity = Severity::kWarning,
                          .code = "W162",
                          .message = "--cluster has no effect: every row of training runs names its machine"});
  }
  return outcome;
}

}  // namespace ringwright::validation
