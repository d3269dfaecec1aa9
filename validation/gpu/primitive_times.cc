// Times of single primitives inside NCCL's kernels (NPKit), against the constants of the rung `chunks`.
//
// NPKit's events enclose the work on the bytes, after peers have been waited for; so does the time compared with them:
// bytes at the rate of the primitive's loads and stores, without `primitive`. The errors are those of Simple from 256
// KiB on, where bytes dominate. With LL every line is waited for: a channel's rate is that of lines in flight, which
// does not include the work on them.
#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "configs/scenario/scenario.h"
#include "core/base/json_text.h"
#include "validation/builtin.h"
#include "validation/fit/error_statistics.h"
#include "validation/fit/kernel_plot.h"
#include "validation/kernels/gpu_tables.h"
#include "validation/tables/csv_table.h"
#include "validation/tables/table_cells.h"

namespace ringwright::validation {
namespace {

using namespace ringwright::literals;

constexpr double kPrimitiveTimesThreshold = 0.10;
constexpr Bytes kPrimitivesJudgedFrom = 256_KiB;
constexpr Bytes kDrawnFrom = 16_KiB;  // smaller ones take a time of their own, whatever their bytes

// Loads and stores of a primitive (NCCL's names).
struct PrimitiveKind {
  std::string_view name;
  int loads = 1;
  int stores = 1;
  const char* colour = "";
};
constexpr std::array kKinds = {PrimitiveKind{"send", 1, 1, "#1f77b4"}, PrimitiveKind{"recv", 1, 1, "#2ca02c"},
                               PrimitiveKind{"recvReduceSend", 2, 1, "#d62728"},
                               PrimitiveKind{"recvCopySend", 1, 2, "#9467bd"},
                               PrimitiveKind{"recvReduceCopySend", 2, 2, "#ff7f0e"}};

struct TimedPrimitive {
  Protocol protocol = Protocol::kSimple;
  std::size_t kind = 0;  // of kKinds
  Bytes bytes;
  double seconds = 0.0;
};

struct PrimitiveTimesTable {
  std::string file;
  std::string gpu;  // shipped name
  std::string source;
  std::vector<TimedPrimitive> rows;
};

constexpr std::array<std::string_view, 7> kPrimitiveTimesColumns{"protocol", "primitive", "bytes",  "samples",
                                                                 "time_us",  "low_us",    "high_us"};
constexpr std::array<std::string_view, 4> kPrimitiveTimesNeeded{"protocol", "primitive", "bytes", "time_us"};
constexpr TableCells::Format kPrimitiveTimesFormat{.of = "primitives",
                                                   .header = kMeasuredHeader,
                                                   .columns = kPrimitiveTimesColumns,
                                                   .needed = kPrimitiveTimesNeeded,
                                                   .page = "docs/primitives.md"};

constexpr std::array kProtocolWords{TableWord<Protocol>{"LL", Protocol::kLl},
                                    TableWord<Protocol>{"LL128", Protocol::kLl128},
                                    TableWord<Protocol>{"Simple", Protocol::kSimple}};

void read_primitive_times_row(TableCells& cells, const CsvRow& row, PrimitiveTimesTable& table) {
  static constexpr std::array kWords{
      TableWord<std::size_t>{kKinds[0].name, 0}, TableWord<std::size_t>{kKinds[1].name, 1},
      TableWord<std::size_t>{kKinds[2].name, 2}, TableWord<std::size_t>{kKinds[3].name, 3},
      TableWord<std::size_t>{kKinds[4].name, 4}};
  cells.check_row(row);
  table.rows.push_back({.protocol = cells.word(row, "protocol", Protocol::kSimple, kProtocolWords),
                        .kind = cells.word(row, "primitive", std::size_t{0}, kWords),
                        .bytes = Bytes(cells.whole(row, "bytes", 1)),
                        .seconds = cells.number(row, "time_us", 1.0, 1e-4) * 1e-6});
  for (const char* other : {"samples", "low_us", "high_us"}) static_cast<void>(cells.number(row, other, 0.0, 0.0));
}

// The constants of a scenario on this GPU: the planning values of its generation, and those set by `overrides`. The
// medians of fits to whole collectives (configs/costs) are not compared: on Hopper their rate is 56.5 GB/s a channel,
// where NPKit's primitives reach 48.
Result<ChannelCosts> costs_on(const std::string& gpu, const std::vector<std::string>& overrides) {
  const std::string text = fmt::format(
      "version: 1\ncomm: {{classes: planning}}\n"
      "cluster: {{nodes: 1, node: {{gpus: 2, gpu: {{preset: {}}}, nvlink: {{kind: nvswitch, bandwidth: 450GB/s, "
      "latency: 0us}}}}}}\ncollectives: {{model: chunks}}\n",
      gpu);
  const auto scenario = configs::load_machine_text("primitives of " + gpu, text, {.overrides = overrides});
  if (!scenario) return tl::unexpected(scenario.error());
  return scenario->comm.costs;
}

double predicted(const ChannelCosts& costs, const TimedPrimitive& row) {
  const PrimitiveKind& kind = kKinds[row.kind];
  return to_seconds(transfer_time(row.bytes, costs.rate_of(row.protocol, kind.loads, kind.stores)));
}

struct ScoredKind {
  Protocol protocol = Protocol::kSimple;
  std::size_t kind = 0;
  PredictedMeasured largest;  // the row of most bytes
  double floor = 0.0;         // measured, of fewest bytes
  ErrorStatistics judged;
  std::string name;   // "Simple, send"
  PlotSeries points;  // of kDrawnFrom and more
  std::size_t rows = 0;
};

ScoredKind score(const PrimitiveTimesTable& table, const ChannelCosts& costs, std::string_view protocol_name,
                 const TimedPrimitive& of) {
  ScoredKind scored{
      .protocol = of.protocol,
      .kind = of.kind,
      .largest = {},
      .judged = {},
      .name = fmt::format("{}, {}", protocol_name, kKinds[of.kind].name),
      .points = {.name = std::string(kKinds[of.kind].name), .colour = kKinds[of.kind].colour, .points = {}}};
  std::vector<PredictedMeasured> judged;
  std::optional<Bytes> least;
  Bytes most;
  for (const TimedPrimitive& row : table.rows) {
    if (row.protocol != of.protocol || row.kind != of.kind) continue;
    const PredictedMeasured pair{.predicted = predicted(costs, row), .measured = row.seconds};
    ++scored.rows;
    if (row.bytes >= kDrawnFrom) scored.points.points.push_back(pair);
    if (row.bytes >= kPrimitivesJudgedFrom) judged.push_back(pair);
    if (row.bytes >= most) scored.largest = pair;
    if (!least || row.bytes < *least) scored.floor = row.seconds;
    least = std::min(least.value_or(row.bytes), row.bytes);
    most = std::max(most, row.bytes);
  }
  scored.judged = error_statistics(judged);
  return scored;
}

std::vector<ScoredKind> score(const PrimitiveTimesTable& table, const ChannelCosts& costs) {
  std::vector<ScoredKind> answer;
  for (const auto& word : kProtocolWords) {
    for (std::size_t kind = 0; kind < kKinds.size(); ++kind) {
      ScoredKind scored = score(table, costs, word.name, {.protocol = word.value, .kind = kind, .bytes = {}});
      if (scored.rows > 0) answer.push_back(std::move(scored));
    }
  }
  return answer;
}

std::string text_of(const std::string& gpu, const std::vector<ScoredKind>& kinds) {
  std::string text = fmt::format("{}, times in us\n{:<28}{:>10}{:>10}{:>11}  {}\n", gpu, "  primitive", "smallest",
                                 "largest", "predicted", "errors from 256 KiB on");
  for (const ScoredKind& kind : kinds) {
    text += fmt::format("  {:<26}{:>10.2f}{:>10.2f}{:>11.2f}  {}\n", kind.name, kind.floor * 1e6,
                        kind.largest.measured * 1e6, kind.largest.predicted * 1e6, errors_text(kind.judged));
  }
  return text;
}

std::string json_of(const std::string& gpu, const std::vector<ScoredKind>& kinds) {
  std::string text = fmt::format("{{\"gpu\": {}, \"primitives\": [", json_text(gpu));
  for (const ScoredKind& kind : kinds) {
    text += fmt::format(
        "{}{{\"protocol\": \"{}\", \"primitive\": {}, \"smallest_s\": {:.6g}, \"largest_s\": {:.6g}, \"predicted_s\": "
        "{:.6g}, \"error\": {:.6g}, \"judged_rows\": {}}}",
        &kind == &kinds.front() ? "" : ", ", to_string(kind.protocol), json_text(std::string(kKinds[kind.kind].name)),
        kind.floor, kind.largest.measured, kind.largest.predicted, kind.judged.mean_abs, kind.judged.count);
  }
  return text + "]}";
}

}  // namespace

Result<ValidationOutcome> validate_primitive_times(const ValidationRequest& request) {
  constexpr TableKind kKind{.family = "primitive_times",
                            .title = "Single primitives inside NCCL's kernels: constants against measured times",
                            .docs = "primitives",
                            .threshold = kPrimitiveTimesThreshold};
  return validate_tables(request, kKind, [&](const std::string& file) -> Result<TableScore> {
    const auto table =
        read_measured<PrimitiveTimesTable>(read_csv(file), kPrimitiveTimesFormat, read_primitive_times_row);
    if (!table) return tl::unexpected(table.error());
    const auto costs = costs_on(table->gpu, request.overrides);
    if (!costs) return tl::unexpected(costs.error());
    const std::vector<ScoredKind> kinds = score(*table, *costs);
    std::vector<PlotSeries> series;
    TableScore answer{.gpu = table->gpu,
                      .text = text_of(table->gpu, kinds),
                      .json = json_of(table->gpu, kinds),
                      .plot = {},
                      .parts = {}};
    for (const ScoredKind& kind : kinds) {
      if (kind.judged.count > 0) series.push_back(kind.points);
      if (kind.judged.count > 0) answer.parts.push_back({.name = kind.name, .fitted = {}, .unseen = kind.judged});
    }
    answer.plot = {.name = "primitive-times-" + table->gpu + ".svg",
                   .text = scatter_svg("primitives, " + table->gpu, series)};
    return answer;
  });
}

}  // namespace ringwright::validation
