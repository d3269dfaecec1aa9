// Validation against MPI with algorithms known by name: executors and topologies, independent of the choice of
// algorithm.
#include <array>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/json_text.h"
#include "core/report/text_table.h"
#include "validation/builtin.h"
#include "validation/fit/error_statistics.h"
#include "validation/kernels/gpu_tables.h"
#include "validation/mpi/mpi_play.h"
#include "validation/mpi/mpi_table.h"
#include "validation/nccl/collective_replay.h"
#include "validation/tables/shipped_files.h"

namespace ringwright::validation {
namespace {

constexpr double kMpiThreshold = 0.60;  // geometric mean over the runs that nothing was fitted on

struct Part {
  std::array<std::vector<PredictedMeasured>, kSizeBands> pairs;

  void add(const MeasuredMpi& row, double played) {
    pairs[static_cast<std::size_t>(band_of(row.bytes))].push_back({.predicted = played, .measured = row.seconds});
  }
  [[nodiscard]] ErrorStatistics all() const {
    std::vector<PredictedMeasured> joined;
    for (const auto& band : pairs) joined.insert(joined.end(), band.begin(), band.end());
    return error_statistics(joined);
  }
};

struct MpiScores {
  std::map<std::string, Part> by_algorithm;  // "fugaku, all_reduce, ring"
  std::map<std::string, Part> by_run;        // "fugaku 8x8x8, new"
  Part fitted;
  Part unseen;
};

MpiScores score(const MpiTable& table, const std::vector<double>& seconds) {
  MpiScores scores;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const MeasuredMpi& row = table.rows[i];
    const std::string what = fmt::format("{}, {}, {}", row.system, configs::to_string(row.operation), row.algorithm);
    const std::string run = fmt::format("{}, {:>6} nodes{}", row.system, row.nodes, row.fitted ? ", fitted" : "");
    scores.by_algorithm[what].add(row, seconds[i]);
    scores.by_run[run].add(row, seconds[i]);
    (row.fitted ? scores.fitted : scores.unseen).add(row, seconds[i]);
  }
  return scores;
}

std::string band_text(const ErrorStatistics& errors) {
  return errors.count == 0 ? "-" : percent_text(errors.geometric_mean_abs);
}

// How much too high or low predictions are on the whole: the mean of predicted / measured - 1.
void add_row(TextTable& table, const std::string& name, const Part& part) {
  const ErrorStatistics all = part.all();
  std::vector<std::string> cells = {name, fmt::format("{}", all.count)};
  for (const auto& band : part.pairs) cells.push_back(band_text(error_statistics(band)));
  cells.push_back(band_text(all));
  cells.push_back(all.count == 0 ? "-" : fmt::format("{:+.0f} %", 100.0 * all.mean_error));
  table.add_row(cells);
}

std::string text_of(const MpiScores& scores, std::size_t left_out) {
  TextTable table(
      {Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kRight});
  table.add_row({"", "rows", "< 64 KiB", "to 64 MiB", "above", "all", "mean"});
  for (const auto& [name, part] : scores.by_algorithm) add_row(table, name, part);
  for (const auto& [name, part] : scores.by_run) add_row(table, name, part);
  add_row(table, "fitted", scores.fitted);
  add_row(table, "new", scores.unseen);
  std::string text = "Geometric mean of the absolute error, by size; mean: of predicted over measured\n";
  for (const std::string& line : table.lines()) text += "  " + line + "\n";
  if (left_out > 0)
    text += fmt::format("  {} rows of algorithms without a counterpart here are not simulated\n", left_out);
  return text;
}

std::string rows_text(const MpiTable& table, const std::vector<double>& seconds) {
  TextTable rows({Align::kLeft, Align::kRight, Align::kLeft, Align::kLeft, Align::kRight, Align::kRight, Align::kRight,
                  Align::kRight});
  rows.add_row({"system", "nodes", "collective", "algorithm", "bytes", "measured us", "simulated us", "error"});
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const MeasuredMpi& row = table.rows[i];
    rows.add_row({row.system, row.nodes, std::string(configs::to_string(row.operation)), row.name,
                  fmt::format("{}", row.bytes.count()), fmt::format("{:.1f}", row.seconds * 1e6),
                  fmt::format("{:.1f}", seconds[i] * 1e6),
                  fmt::format("{:+.1f} %", 100.0 * (seconds[i] / row.seconds - 1.0))});
  }
  std::string text;
  for (const std::string& line : rows.lines()) text += "  " + line + "\n";
  return text + "\n";
}

std::string mpi_json(const ErrorStatistics& errors) {
  return fmt::format("{{\"rows\": {}, \"geometric_mean_abs\": {:.6g}, \"mean\": {:.6g}}}", errors.count,
                     errors.geometric_mean_abs, errors.mean_error);
}

std::string mpi_json(const MpiTable& table, const std::vector<double>& seconds, const MpiScores& scores) {
  std::string rows;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const MeasuredMpi& row = table.rows[i];
    rows += fmt::format(
        "{}\n  {{\"system\": {}, \"nodes\": {}, \"collective\": {}, \"name\": {}, \"algorithm\": {}, \"bytes\": {}, "
        "\"fitted\": {}, "
        "\"measured_us\": {:.6g}, \"simulated_us\": {:.6g}}}",
        i == 0 ? "" : ",", json_text(row.system), json_text(row.nodes), json_text(configs::to_string(row.operation)),
        json_text(row.name), json_text(row.algorithm), row.bytes.count(), row.fitted, row.seconds * 1e6,
        seconds[i] * 1e6);
  }
  return fmt::format("{{\"fitted\": {}, \"new\": {}, \"rows\": [{}\n]}}\n", mpi_json(scores.fitted.all()),
                     mpi_json(scores.unseen.all()), rows);
}

std::string page_of(const std::string& text) {
  return "# Algorithms by name: measured with MPI, and simulated\n\nMade by `ringwright validate mpi --markdown "
         "docs/validation-mpi.md`; not by hand. What it means: [mpi.md](mpi.md).\n\n```\n" +
         text + "```\n";
}

}  // namespace

Result<ValidationOutcome> validate_mpi(const ValidationRequest& request) {
  const bool shipped = request.files.empty();
  const std::vector<std::string> files = shipped ? files_in(shipped_folder("mpi"), ".csv") : request.files;
  ValidationOutcome outcome;
  const double threshold = request.threshold.value_or(kMpiThreshold);
  for (const std::string& file : files) {
    const auto table = read_mpi_table(file);
    if (!table) return tl::unexpected(table.error());
    const auto seconds = play_mpi(*table, {.overrides = request.overrides, .cluster = request.cluster.value_or("")});
    if (!seconds) return tl::unexpected(seconds.error());
    const MpiScores scores = score(*table, *seconds);
    const std::string text = text_of(scores, table->left_out);
    outcome.text += shipped ? text : rows_text(*table, *seconds) + text;
    outcome.json += mpi_json(*table, *seconds, scores);
    outcome.markdown += page_of(text);
    const ErrorStatistics judged = scores.unseen.all().count > 0 ? scores.unseen.all() : scores.fitted.all();
    outcome.passed = outcome.passed && judged.geometric_mean_abs <= threshold;
    outcome.text += fmt::format("{}: {} of {}\n", judged.geometric_mean_abs <= threshold ? "passed" : "FAILED",
                                percent_text(judged.geometric_mean_abs), percent_text(threshold));
  }
  return outcome;
}

}  // namespace ringwright::validation
