// Offload over the host link as measured by `measure_gpu --families offload`: gradients down, parameters up, both at
// once, and concurrent with a GEMM. The rest is derived from each direction alone, as in the fabric and the
// interference rung: two directions do not disturb each other, copy engines hold no multiprocessors, and their bytes
// take device memory's bandwidth from kernels.
#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "configs/scenario/gpu_preset.h"
#include "core/base/json_text.h"
#include "validation/builtin.h"
#include "validation/fit/error_statistics.h"
#include "validation/fit/kernel_plot.h"
#include "validation/fit/latency_line.h"
#include "validation/kernels/gpu_tables.h"
#include "validation/tables/csv_table.h"
#include "validation/tables/table_cells.h"
#include "workload/gpu/gpu_share.h"
#include "workload/kernels/kernel_rules.h"

namespace ringwright::validation {
namespace {

constexpr double kOffloadThreshold = 0.05;

enum class Traffic { kNone, kDown, kUp, kBoth };

struct MeasuredOffload {
  Traffic traffic = Traffic::kNone;
  bool computes = false;
  Bytes bytes;  // in each direction
  Bytes bucket;
  double compute = 0.0, down = 0.0, up = 0.0;  // seconds; 0 where nothing of it runs
};

struct OffloadTable {
  std::string file;
  std::string gpu;  // shipped name
  std::string source;
  std::vector<MeasuredOffload> rows;
};

constexpr std::array<std::string_view, 7> kOffloadColumns{"traffic",    "compute", "bytes", "bucket_bytes",
                                                          "compute_us", "down_us", "up_us"};
constexpr std::array<std::string_view, 7> kOffloadNeeded = kOffloadColumns;
constexpr TableCells::Format kOffloadFormat{.of = "offload",
                                            .header = kMeasuredHeader,
                                            .columns = kOffloadColumns,
                                            .needed = kOffloadNeeded,
                                            .page = "docs/host-copies.md"};
// The suite's GEMM.
constexpr std::string_view kGemm = "gemm bf16 4096x4096x4096";
constexpr std::int64_t kGemmSize = 4096;

void read_offload_row(TableCells& cells, const CsvRow& row, OffloadTable& table) {
  static constexpr std::array kTraffic{
      TableWord<Traffic>{"none", Traffic::kNone}, TableWord<Traffic>{"gradients down", Traffic::kDown},
      TableWord<Traffic>{"parameters up", Traffic::kUp}, TableWord<Traffic>{"both", Traffic::kBoth}};
  static constexpr std::array kCompute{TableWord<bool>{"none", false}, TableWord<bool>{kGemm, true}};
  cells.check_row(row);
  MeasuredOffload made{.traffic = cells.word(row, "traffic", Traffic::kNone, kTraffic),
                       .computes = cells.word(row, "compute", false, kCompute),
                       .bytes = Bytes(cells.whole(row, "bytes", 1)),
                       .bucket = Bytes(cells.whole(row, "bucket_bytes", 1))};
  made.compute = cells.number(row, "compute_us", 0.0, 0.0) * 1e-6;
  made.down = cells.number(row, "down_us", 0.0, 0.0) * 1e-6;
  made.up = cells.number(row, "up_us", 0.0, 0.0) * 1e-6;
  const bool down = made.traffic == Traffic::kDown || made.traffic == Traffic::kBoth;
  const bool up = made.traffic == Traffic::kUp || made.traffic == Traffic::kBoth;
  if (made.computes && made.compute <= 0.0) cells.refuse_cell(row, "compute_us", "a GEMM takes time");
  if (down && made.down <= 0.0) cells.refuse_cell(row, "down_us", "a copy takes time");
  if (up && made.up <= 0.0) cells.refuse_cell(row, "up_us", "a copy takes time");
  table.rows.push_back(made);
}

// Rates from the rows of one stream alone.
struct Alone {
  std::optional<LatencyLine> down;  // of one bucket
  std::optional<LatencyLine> up;
  std::optional<double> compute;  // seconds
};

Alone alone(const OffloadTable& table) {
  std::vector<SizedTime> down, up;
  Alone answer;
  for (const MeasuredOffload& row : table.rows) {
    const double buckets =
        std::max(1.0, static_cast<double>(row.bytes.count()) / static_cast<double>(row.bucket.count()));
    const Bytes bucket = std::min(row.bucket, row.bytes);
    if (row.traffic == Traffic::kDown && !row.computes)
      down.push_back({.bytes = bucket, .seconds = row.down / buckets});
    if (row.traffic == Traffic::kUp && !row.computes) up.push_back({.bytes = bucket, .seconds = row.up / buckets});
    if (row.traffic == Traffic::kNone && row.computes) answer.compute = row.compute;
  }
  if (!down.empty()) answer.down = fit_latency_line(down);
  if (!up.empty()) answer.up = fit_latency_line(up);
  return answer;
}

double copies_take(const MeasuredOffload& row, const LatencyLine& line) {
  const double buckets =
      std::max(1.0, static_cast<double>(row.bytes.count()) / static_cast<double>(row.bucket.count()));
  return buckets * line.seconds(std::min(row.bucket, row.bytes));
}

// The GEMM during copies: slower while they run, and then as fast as alone.
double gemm_takes(const workload::GpuSpec& gpu, double alone, double copying, double rate) {
  const Kernel kernel{.m = kGemmSize,
                      .n = kGemmSize,
                      .k = kGemmSize,
                      .flops = Flops(2.0 * static_cast<double>(kGemmSize * kGemmSize * kGemmSize)),
                      .bytes = Bytes(6 * kGemmSize * kGemmSize)};
  const workload::GpuSpec left =
      workload::GpuShare(gpu, {.copies = Bandwidth(rate)}, gpu.kernels[workload::KernelConstant::kStreamShare])
          .of_kernel();
  const double slower = std::max(1.0, workload::kernel_seconds(kernel, left) / workload::kernel_seconds(kernel, gpu));
  return alone * slower <= copying ? alone * slower : alone + copying * (1.0 - 1.0 / slower);
}

struct Streams {
  std::vector<PredictedMeasured> down, up, compute;
};

Streams predict(const OffloadTable& table, const workload::GpuSpec& gpu) {
  const Alone one = alone(table);
  Streams streams;
  for (const MeasuredOffload& row : table.rows) {
    const bool down = row.traffic == Traffic::kDown || row.traffic == Traffic::kBoth;
    const bool up = row.traffic == Traffic::kUp || row.traffic == Traffic::kBoth;
    if ((down && up) + (row.computes && row.traffic != Traffic::kNone) == 0) continue;  // fitted
    double copying = 0.0;
    double rate = 0.0;
    if (down && one.down) {
      streams.down.push_back({.predicted = copies_take(row, *one.down), .measured = row.down});
      copying = std::max(copying, streams.down.back().predicted);
      rate += one.down->rate.count();
    }
    if (up && one.up) {
      streams.up.push_back({.predicted = copies_take(row, *one.up), .measured = row.up});
      copying = std::max(copying, streams.up.back().predicted);
      rate += one.up->rate.count();
    }
    if (row.computes && one.compute) {
      streams.compute.push_back(
          {.predicted = gemm_takes(gpu, *one.compute, copying, rate), .measured = row.compute});
    }
  }
  return streams;
}

TableScore score(const OffloadTable& table, const workload::GpuSpec& gpu) {
  TableScore answer{.gpu = table.gpu, .text = table.gpu + "\n", .json = {}, .plot = {}, .parts = {}};
  const Streams streams = predict(table, gpu);
  std::vector<PlotSeries> series;
  std::string objects;
  const auto add = [&](std::string_view name, const char* colour, const std::vector<PredictedMeasured>& pairs) {
    const ScoredPart part{.name = std::string(name), .fitted = {}, .unseen = error_statistics(pairs)};
    answer.text += fmt::format("  {:<44}{}\n", name, errors_text(part.unseen));
    objects += fmt::format("{}{{\"stream\": {}, \"rows\": {}, \"error\": {:.6g}}}", objects.empty() ? "" : ", ",
                           json_text(part.name), part.unseen.count, part.unseen.mean_abs);
    series.push_back({.name = part.name, .colour = colour, .points = pairs});
    answer.parts.push_back(part);
  };
  add("gradients down, with others", "#1f77b4", streams.down);
  add("parameters up, with others", "#d62728", streams.up);
  add("the GEMM, with copies", "#2ca02c", streams.compute);
  answer.json = fmt::format("{{\"gpu\": {}, \"streams\": [{}]}}", json_text(table.gpu), objects);
  answer.plot = {.name = "offload-" + table.gpu + ".svg", .text = scatter_svg("offload, " + table.gpu, series)};
  return answer;
}

}  // namespace

Result<ValidationOutcome> validate_offload(const ValidationRequest& request) {
  constexpr TableKind kKind{.family = "offload",
                            .title = "Offload during computation: predictions against measurements",
                            .docs = "host-copies",
                            .threshold = kOffloadThreshold};
  return validate_tables(request, kKind, [&](const std::string& file) -> Result<TableScore> {
    const auto table = read_measured<OffloadTable>(read_csv(file), kOffloadFormat, read_offload_row);
    if (!table) return tl::unexpected(table.error());
    const auto preset = configs::load_gpu(table->gpu, {.overrides = request.overrides});
    if (!preset) return tl::unexpected(preset.error());
    return score(*table, preset->gpu);
  });
}

}  // namespace ringwright::validation
