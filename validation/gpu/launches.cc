// Host times of `measure_gpu --families launches` against the two constants of the GPU's kernel profile that describe
// them: the rate of a bare loop that launches kernels, and the pause between kernels of a graph.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "configs/scenario/gpu_preset.h"
#include "core/base/json_text.h"
#include "validation/builtin.h"
#include "validation/fit/error_statistics.h"
#include "validation/fit/kernel_plot.h"
#include "validation/kernels/gpu_tables.h"
#include "validation/tables/csv_table.h"
#include "validation/tables/table_cells.h"

namespace ringwright::validation {
namespace {

using workload::KernelConstant;

constexpr double kLaunchesThreshold = 0.20;

struct MeasuredCost {
  std::string what;
  double seconds = 0.0;
};

struct LaunchTable {
  std::string file;
  std::string gpu;  // shipped name
  std::string source;
  std::vector<MeasuredCost> rows;
};

constexpr std::array<std::string_view, 4> kLaunchesColumns{"what", "time_us", "ci_low_us", "ci_high_us"};
constexpr std::array<std::string_view, 2> kLaunchesNeeded{"what", "time_us"};
constexpr TableCells::Format kLaunchesFormat{.of = "launches",
                                             .header = kMeasuredHeader,
                                             .columns = kLaunchesColumns,
                                             .needed = kLaunchesNeeded,
                                             .page = "docs/kernel-tables.md"};

void read_launches_row(TableCells& cells, const CsvRow& row, LaunchTable& table) {
  cells.check_row(row);
  const CsvCell* const what = cells.cell(row, "what");
  table.rows.push_back({.what = what != nullptr ? what->text : std::string(),
                        .seconds = cells.number(row, "time_us", 1.0, 1e-3) * 1e-6});
  for (const char* other : {"ci_low_us", "ci_high_us"}) static_cast<void>(cells.number(row, other, 0.0, 0.0));
}

struct Predicted {
  std::string_view what;
  KernelConstant constant;
  std::string_view key;
};
constexpr std::array kPredicted = {
    Predicted{"kernel after kernel (eager)", KernelConstant::kHostLaunch, "kernels.host.launch"},
    Predicted{"kernel after kernel (graph)", KernelConstant::kStreamGap, "kernels.stream.gap"}};

TableScore score(const LaunchTable& table, const workload::GpuSpec& gpu) {
  TableScore answer{.gpu = table.gpu, .text = table.gpu + ", us\n", .json = {}, .plot = {}, .parts = {}};
  std::string objects;
  PlotSeries points{.name = "launches", .colour = "#1f77b4", .points = {}};
  for (const MeasuredCost& row : table.rows) {
    const auto found = std::ranges::find(kPredicted, row.what, &Predicted::what);
    answer.text += fmt::format("  {:<48}{:>10.3f}", row.what, row.seconds * 1e6);
    objects += fmt::format("{}{{\"what\": {}, \"measured_s\": {:.6g}", objects.empty() ? "" : ", ", json_text(row.what),
                           row.seconds);
    if (found != kPredicted.end()) {
      const PredictedMeasured pair{.predicted = gpu.kernels[found->constant], .measured = row.seconds};
      answer.text += fmt::format("{:>10.3f}  {}", pair.predicted * 1e6, found->key);
      objects += fmt::format(", \"predicted_s\": {:.6g}", pair.predicted);
      points.points.push_back(pair);
      answer.parts.push_back({.name = row.what, .fitted = {}, .unseen = error_statistics(std::array{pair})});
    }
    answer.text += "\n";
    objects += "}";
  }
  answer.json = fmt::format("{{\"gpu\": {}, \"costs\": [{}]}}", json_text(table.gpu), objects);
  answer.plot = {.name = "launches-" + table.gpu + ".svg",
                 .text = scatter_svg("launches, " + table.gpu, std::array{points})};
  return answer;
}

}  // namespace

Result<ValidationOutcome> validate_launches(const ValidationRequest& request) {
  constexpr TableKind kKind{.family = "launches",
                            .title = "Launches: constants against measured times",
                            .docs = "kernel-tables",
                            .threshold = kLaunchesThreshold};
  return validate_tables(request, kKind, [&](const std::string& file) -> Result<TableScore> {
    const auto table = read_measured<LaunchTable>(read_csv(file), kLaunchesFormat, read_launches_row);
    if (!table) return tl::unexpected(table.error());
    const auto preset = configs::load_gpu(table->gpu, {.overrides = request.overrides});
    if (!preset) return tl::unexpected(preset.error());
    return score(*table, preset->gpu);
  });
}

}  // namespace ringwright::validation
