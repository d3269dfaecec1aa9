// Validation against measured training runs: tables of a shared schema, each row simulated as a scenario.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "validation/builtin.h"
#include "validation/tables/csv_table.h"
#include "validation/tables/shipped_files.h"
#include "validation/training/cases.h"
#include "validation/training/conventions.h"
#include "validation/training/report.h"
#include "validation/training/row.h"
#include "validation/training/score.h"
#include "validation/training/shipped_models.h"
#include "validation/training/unknown_cells.h"

namespace ringwright::validation {
namespace {

struct AllRows {
  std::vector<TrainingRow> rows;
  std::vector<std::string> unused_columns;
  Diagnostics warnings;
};

// Results name rows by their id.
void check_ids(const std::vector<TrainingRow>& rows, Diagnostics& problems) {
  std::map<std::string_view, const TrainingRow*> known;
  for (const TrainingRow& row : rows) {
    const auto [first, is_new] = known.emplace(row.id, &row);
    if (is_new) continue;
    const Place& place = first->second->place;
    problems.add({.code = "E161",
                  .place = row.place_of("id"),
                  .message = fmt::format("{}:{} has the id '{}' as well", place.file, place.line, row.id),
                  .hint = fmt::format("give each run an id of its own, as {}-2", row.id)});
  }
}

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
    for (const Diagnostic& warning : table->warnings.all()) all.warnings.add(warning);
    for (const std::string& name : table->unused_columns) {
      if (std::ranges::find(all.unused_columns, name) == all.unused_columns.end()) all.unused_columns.push_back(name);
    }
  }
  take_shipped_models(all.rows);
  check_ids(all.rows, problems);
  if (problems.has_errors()) return tl::unexpected(std::move(problems));
  return all;
}

// The result of rows of the user's own tables: the reason for each that was not compared.
Diagnostics rows_left_out(const std::vector<PlayedRow>& rows, const TrainingConventions& conventions,
                          Severity severity) {
  Diagnostics reasons;
  for (const PlayedRow& row : rows) {
    if (row.played()) continue;
    reasons.add({.severity = severity,
                 .code = "W165",
                 .place = row.row.place_of(row.reason_column),
                 .message = fmt::format("row '{}' is not compared: {}", row.row.id, row.reason),
                 .hint = row.reason_column == "framework" ? "known are " + conventions.known_frameworks() : ""});
  }
  return reasons;
}

// Runs of the user's own tables that were measured, though by the prediction their memory does not suffice.
Diagnostics rows_without_memory(const std::vector<PlayedRow>& rows) {
  Diagnostics warnings;
  for (const PlayedRow& row : rows) {
    if (!row.played() || row.shortage.empty()) continue;
    warnings.add(
        {.severity = Severity::kWarning,
         .code = "W170",
         .place = row.row.place,
         .message = fmt::format("row '{}' is compared, but does not fit into GPU memory: {}", row.row.id, row.shortage),
         .hint = "check n_gpus, tp, pp, mbs, dp_sharding and recompute"});
  }
  return warnings;
}

// Rows whose time and rate state different steps: a batch, a sequence length or a unit is wrong. The time counts.
Diagnostics contradicting_rates(const std::vector<PlayedRow>& rows) {
  constexpr double kTolerance = 0.1;
  Diagnostics warnings;
  for (const PlayedRow& row : rows) {
    if (!row.played() || row.tokens_seconds <= 0.0) continue;
    if (std::abs(row.tokens_seconds / row.measured_seconds - 1.0) <= kTolerance) continue;
    warnings.add({.severity = Severity::kWarning,
                  .code = "W171",
                  .place = row.row.place_of("tok_s_gpu"),
                  .message = fmt::format("row '{}' states steps of {:.4g} s, and by its tokens/s they take {:.4g} s",
                                         row.row.id, row.measured_seconds, row.tokens_seconds),
                  .hint = "step_time_s is compared; check gbs, seq, n_gpus and tok_s_gpu"});
  }
  return warnings;
}

// Words of the user's own tables that have no effect, each where it stands first.
Diagnostics unknown_words(const std::vector<TrainingRow>& rows, const Vocabulary& vocabulary) {
  Diagnostics unknown;
  std::set<std::pair<std::string_view, std::string>> reported;
  for (const TrainingRow& row : rows) {
    if (!row.scored()) continue;
    for (const UnknownCell& cell : unknown_cells(row, vocabulary)) {
      if (!reported.emplace(cell.column, cell.text).second) continue;
      unknown.add({.severity = Severity::kWarning,
                   .code = "W169",
                   .place = row.place_of(cell.column),
                   .message = fmt::format("the words '{}' in column '{}' are not known and have no effect", cell.text,
                                          cell.column),
                   .hint = "the words: docs/training-tables.md"});
    }
  }
  return unknown;
}

// An empty comparison is no success.
Diagnostics nothing_compared(const std::vector<PlayedRow>& rows, std::size_t excluded,
                             const TrainingConventions& conventions, const std::vector<std::string>& files) {
  Diagnostics problems = rows_left_out(rows, conventions, Severity::kError);
  std::string why = rows.empty() ? "there is no row to compare" : "no row could be compared";
  if (rows.empty() && excluded > 0) why += fmt::format(": column `split` excludes {}", excluded);
  problems.add({.code = "E166",
                .place = {.file = files.front()},
                .message = why,
                .hint = "the columns: `ringwright validate --help`, docs/training-tables.md"});
  return problems;
}

}  // namespace

Result<ValidationOutcome> validate_training(const ValidationRequest& request) {
  const std::string folder = shipped_folder("training");
  const auto conventions = read_conventions(folder);
  if (!conventions) return tl::unexpected(conventions.error());
  const bool shipped = request.files.empty();
  const auto all = read_all(shipped ? files_in(folder, ".csv") : request.files);
  if (!all) return tl::unexpected(all.error());

  const std::vector<PlayedRow> rows = play_rows(all->rows, *conventions,
                                                {.overrides = request.overrides,
                                                 .large = shipped ? LargeRows::kLeftOut : LargeRows::kPlayed,
                                                 .progress = request.progress});
  if (std::ranges::none_of(rows, &PlayedRow::played)) {
    const auto excluded = std::ranges::count_if(all->rows, std::not_fn(&TrainingRow::scored));
    return tl::unexpected(nothing_compared(rows, static_cast<std::size_t>(excluded), *conventions,
                                           shipped ? std::vector<std::string>{folder} : request.files));
  }
  const std::vector<SourceScore> scores = score(rows, *conventions, request.threshold);
  const TrainingTables tables{.rows = rows, .scores = scores, .unused_columns = all->unused_columns};
  ValidationOutcome outcome;
  if (!shipped) {
    outcome.warnings = all->warnings;
    const Diagnostics left_out = rows_left_out(rows, *conventions, Severity::kWarning);
    for (const Diagnostic& reason : left_out.all()) outcome.warnings.add(reason);
    const Diagnostics short_of_memory = rows_without_memory(rows);
    for (const Diagnostic& shortage : short_of_memory.all()) outcome.warnings.add(shortage);
    const Diagnostics contradicting = contradicting_rates(rows);
    for (const Diagnostic& rate : contradicting.all()) outcome.warnings.add(rate);
    const Diagnostics unknown = unknown_words(all->rows, conventions->vocabulary);
    for (const Diagnostic& words : unknown.all()) outcome.warnings.add(words);
  }
  outcome.text = training_text(tables, shipped ? RowDetail::kWorst : RowDetail::kAll);
  outcome.json = training_json(tables);
  outcome.markdown = training_markdown(tables);
  if (shipped) {
    // Held-out sources come first: runs of users are such.
    const std::size_t below_title = outcome.markdown.find('\n') + 1;
    const std::string left_out = text_of_file(folder + "/leave_one_out.md");
    outcome.markdown.insert(below_title, "\n" + left_out + "\n## In-sample errors\n");
  }
  for (const PlayedRow& row : rows) {
    if (row.played()) outcome.scenarios.push_back({.name = row.row.id + ".yaml", .text = row.scenario});
  }
  outcome.passed = std::ranges::all_of(scores, &SourceScore::passed);
  if (request.cluster) {
    outcome.warnings.add({.severity = Severity::kWarning,
                          .code = "W162",
                          .message = "--cluster has no effect: every row of training runs names its machine"});
  }
  return outcome;
}

}  // namespace ringwright::validation
