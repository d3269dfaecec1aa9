#include "validation/gpu/host_copies.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/base/json_text.h"
#include "core/base/random.h"
#include "validation/builtin.h"
#include "validation/fit/error_statistics.h"
#include "validation/fit/kernel_plot.h"
#include "validation/kernels/gpu_tables.h"
#include "validation/tables/csv_table.h"
#include "validation/tables/table_cells.h"

namespace ringwright::validation {
namespace {

using namespace ringwright::literals;

constexpr double kHostCopiesThreshold = 0.05;
constexpr Bytes kJudgedFrom = 1_MiB;  // below, the latency of the host dominates

constexpr std::array<std::string_view, 7> kHostCopiesColumns{"memory",  "direction", "bytes",     "GB_per_s_each_way",
                                                             "time_us", "ci_low_us", "ci_high_us"};
constexpr std::array<std::string_view, 4> kHostCopiesNeeded{"memory", "direction", "bytes", "time_us"};
constexpr TableCells::Format kHostCopiesFormat{.of = "copies",
                                               .header = kMeasuredHeader,
                                               .columns = kHostCopiesColumns,
                                               .needed = kHostCopiesNeeded,
                                               .page = "docs/host-copies.md"};
constexpr std::array kMemories{TableWord<std::string_view>{"pinned", "pinned"},
                               TableWord<std::string_view>{"pageable", "pageable"}};
constexpr std::array kDirections{TableWord<std::string_view>{"host to device", "host to device"},
                                 TableWord<std::string_view>{"device to host", "device to host"},
                                 TableWord<std::string_view>{"both", "both"}};
void read_host_copies_row(TableCells& cells, const CsvRow& row, HostCopyTable& table) {
  cells.check_row(row);
  MeasuredCopy copy{.line = row.line};
  const auto memory = cells.word(row, "memory", std::string_view("pinned"), kMemories);
  const auto direction = cells.word(row, "direction", std::string_view("host to device"), kDirections);
  copy.path = fmt::format("{}, {}", memory, direction);
  copy.bytes = Bytes(cells.whole(row, "bytes", 1));
  copy.seconds = cells.number(row, "time_us", 1.0, 1e-3) * 1e-6;
  for (const char* other : {"GB_per_s_each_way", "ci_low_us", "ci_high_us"})
    static_cast<void>(cells.number(row, other, 0.0, 0.0));
  copy.held_out = hash_text(fmt::format("{}/{}", copy.path, copy.bytes.count())) % 4 == 0;
  table.rows.push_back(std::move(copy));
}

DmaPathCosts fit_path(const HostCopyTable& table, const std::string& path) {
  std::vector<SizedTime> points;
  for (const MeasuredCopy& row : table.rows) {
    if (row.path == path && !row.held_out) points.push_back({.bytes = row.bytes, .seconds = row.seconds});
  }
  return {.path = path, .line = fit_latency_line(points)};
}

struct ScoredPath {
  DmaPathCosts costs;
  ErrorStatistics fitted;  // from 1 MiB on
  ErrorStatistics unseen;
  PlotSeries points;
};

std::vector<ScoredPath> score(const HostCopyTable& table) {
  constexpr std::array kColours = {"#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b"};
  std::vector<ScoredPath> paths;
  for (DmaPathCosts& costs : fit_host_copies(table)) {
    std::vector<PredictedMeasured> fitted, unseen, all;
    for (const MeasuredCopy& row : table.rows) {
      if (row.path != costs.path) continue;
      const PredictedMeasured pair{.predicted = costs.line.seconds(row.bytes), .measured = row.seconds};
      all.push_back(pair);
      if (row.bytes >= kJudgedFrom) (row.held_out ? unseen : fitted).push_back(pair);
    }
    PlotSeries points{.name = costs.path, .colour = kColours[paths.size() % kColours.size()], .points = std::move(all)};
    paths.push_back({.costs = std::move(costs), .fitted = error_statistics(fitted), .unseen = error_statistics(unseen),
                    .points = std::move(points)});
  }
  return paths;
}

std::string text_of(const HostCopyTable& table, const std::vector<ScoredPath>& paths) {
  std::string text = table.gpu + ", errors from 1 MiB on\n";
  for (const ScoredPath& path : paths) {
    text += fmt::format("  {:<26}{:>9} + bytes / {:<12}fitted: {}; new: {}\n", path.costs.path,
                        to_string(path.costs.line.latency), to_string(path.costs.line.rate), errors_text(path.fitted),
                        errors_text(path.unseen));
  }
  return text;
}

std::string json_of(const HostCopyTable& table, const std::vector<ScoredPath>& paths) {
  std::string text = fmt::format("{{\"gpu\": {}, \"directions\": [", json_text(table.gpu));
  for (const ScoredPath& path : paths) {
    text += fmt::format(
        "{}{{\"direction\": {}, \"latency_s\": {:.6g}, \"rate_bytes_per_s\": {:.6g}, \"fitted\": {:.6g}, \"unseen\": "
        "{:.6g}}}",
        &path == &paths.front() ? "" : ", ", json_text(path.costs.path), to_seconds(path.costs.line.latency),
        path.costs.line.rate.count(), path.fitted.mean_abs, path.unseen.mean_abs);
  }
  return text + "]}";
}

}  // namespace

Result<HostCopyTable> read_host_copies(const std::string& path) {
  return read_measured<HostCopyTable>(read_csv(path), kHostCopiesFormat, read_host_copies_row);
}

Result<HostCopyTable> parse_host_copies(const std::string& name, std::string_view text) {
  return read_measured<HostCopyTable>(parse_csv(name, text), kHostCopiesFormat, read_host_copies_row);
}

std::vector<DmaPathCosts> fit_host_copies(const HostCopyTable& table) {
  std::vector<DmaPathCosts> paths;
  for (const MeasuredCopy& row : table.rows) {
    if (std::ranges::find(paths, row.path, &DmaPathCosts::path) == paths.end())
      paths.push_back(fit_path(table, row.path));
  }
  return paths;
}

Result<ValidationOutcome> validate_host_copies(const ValidationRequest& request) {
  constexpr TableKind kKind{.family = "host_copies",
                            .title = "Copies between GPU and host: predictions against measurements",
                            .docs = "host-copies",
                            .threshold = kHostCopiesThreshold};
  return validate_tables(request, kKind, [](const std::string& file) -> Result<TableScore> {
    const auto table = read_host_copies(file);
    if (!table) return tl::unexpected(table.error());
    const std::vector<ScoredPath> paths = score(*table);
    std::vector<PlotSeries> series;
    TableScore answer{
        .gpu = table->gpu, .text = text_of(*table, paths), .json = json_of(*table, paths), .plot = {}, .parts = {}};
    for (const ScoredPath& path : paths) {
      series.push_back(path.points);
      answer.parts.push_back({.name = path.costs.path, .fitted = path.fitted, .unseen = path.unseen});
    }
    answer.plot = {.name = "host-copies-" + table->gpu + ".svg",
                   .text = scatter_svg("host copies, " + table->gpu, series)};
    return answer;
  });
}

// The fabric has one rate for both directions of a GPU's slot: that of both where it was measured.
Result<CalibrationOutcome> calibrate_host_copies(const CalibrationRequest& request) {
  const auto file = only_table(request.files);
  if (!file) return tl::unexpected(file.error());
  const auto table = read_host_copies(*file);
  if (!table) return tl::unexpected(table.error());
  const std::vector<ScoredPath> paths = score(*table);
  double rate = 0.0;
  for (const ScoredPath& path : paths) {
    if (path.costs.path == "pinned, both") rate = path.costs.line.rate.count();
  }
  for (const ScoredPath& path : paths) {
    const bool one_way = path.costs.path.starts_with("pinned, ") && !path.costs.path.ends_with("both");
    if (one_way && rate <= 0.0) rate = path.costs.line.rate.count();
  }
  CalibrationOutcome outcome{.text = text_of(*table, paths), .json = json_of(*table, paths) + "\n", .profile = {},
                             .warnings = cluster_has_no_effect(request.cluster, "host copies")};
  outcome.profile = fmt::format(
      "# The host link of {}.\n# Made by `ringwright calibrate host_copies`; use it with `preset: NAME` at the head of "
      "a scenario.\n"
      "evidence: calibrated\nsource: {}\n\n",
      table->gpu, json_text("fit to " + table->source));
  outcome.profile += rate > 0.0
                         ? fmt::format("cluster: {{node: {{pcie: {{gpu_bandwidth: {:.3g}GB/s}}}}}}\n", rate * 1e-9)
                         : std::string("# no copies of pinned memory were measured\n");
  return outcome;
}

}  // namespace ringwright::validation
