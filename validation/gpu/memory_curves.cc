// Device memory and L2 as measured by `measure_gpu --families memory`, against two rules: all multiprocessors together
// need a latency and the bytes at a rate, and thread blocks on n multiprocessors draw n times the rate of one, up to
// that rate.
#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include "core/base/json_text.h"
#include "core/base/random.h"
#include "validation/builtin.h"
#include "validation/fit/bounded_fit.h"
#include "validation/fit/error_statistics.h"
#include "validation/fit/kernel_plot.h"
#include "validation/fit/latency_line.h"
#include "validation/kernels/gpu_tables.h"
#include "validation/tables/csv_table.h"
#include "validation/tables/table_cells.h"

namespace ringwright::validation {
namespace {

constexpr double kMemoryCurvesThreshold = 0.05;

struct Pattern {
  std::string_view name;
  int streams = 1;  // read and written
  const char* colour = "";
};
constexpr std::array kPatterns = {Pattern{"read", 1, "#1f77b4"}, Pattern{"write", 1, "#2ca02c"},
                                  Pattern{"copy", 2, "#d62728"}, Pattern{"reduce 2", 3, "#9467bd"},
                                  Pattern{"reduce 3", 4, "#ff7f0e"}};
enum class Level { kMemory, kL2 };

struct Sweep {
  std::size_t pattern = 0;  // of kPatterns
  Level level = Level::kMemory;
  bool by_sms = false;  // one thread block on each of so many multiprocessors; else four on every one

  friend bool operator==(const Sweep&, const Sweep&) = default;
};

struct MeasuredMove {
  Sweep sweep;
  Bytes moved;  // by all streams together
  int sms = 0;
  double seconds = 0.0;
  bool held_out = false;  // never fitted
};

struct MemoryTable {
  std::string file;
  std::string gpu;  // shipped name
  std::string source;
  std::vector<MeasuredMove> rows;
};

constexpr std::array<std::string_view, 9> kMemoryCurvesColumns{
    "pattern", "level", "stream_bytes", "sms", "blocks", "GB_per_s", "time_us", "ci_low_us", "ci_high_us"};
constexpr std::array<std::string_view, 6> kMemoryCurvesNeeded{"pattern", "level",  "stream_bytes",
                                                              "sms",     "blocks", "time_us"};
constexpr TableCells::Format kMemoryCurvesFormat{.of = "moves",
                                                 .header = kMeasuredHeader,
                                                 .columns = kMemoryCurvesColumns,
                                                 .needed = kMemoryCurvesNeeded,
                                                 .page = "docs/memory.md"};

void read_memory_curves_row(TableCells& cells, const CsvRow& row, MemoryTable& table) {
  static constexpr std::array kWords{
      TableWord<std::size_t>{kPatterns[0].name, 0}, TableWord<std::size_t>{kPatterns[1].name, 1},
      TableWord<std::size_t>{kPatterns[2].name, 2}, TableWord<std::size_t>{kPatterns[3].name, 3},
      TableWord<std::size_t>{kPatterns[4].name, 4}};
  static constexpr std::array kLevels{TableWord<Level>{"memory", Level::kMemory}, TableWord<Level>{"l2", Level::kL2}};
  cells.check_row(row);
  MeasuredMove move;
  move.sweep.pattern = cells.word(row, "pattern", std::size_t{0}, kWords);
  move.sweep.level = cells.word(row, "level", Level::kMemory, kLevels);
  move.moved = Bytes(cells.whole(row, "stream_bytes", 1) * kPatterns[move.sweep.pattern].streams);
  const std::int64_t sms = cells.whole(row, "sms", 1);
  const std::int64_t blocks = cells.whole(row, "blocks", 1);
  if (sms < 1 || sms > 4096)
    cells.refuse_cell(row, "sms", fmt::format("sms is {} and must be between 1 and 4096", sms));
  if (blocks < sms)
    cells.refuse_cell(row, "blocks", fmt::format("{} thread blocks cannot use {} multiprocessors", blocks, sms));
  move.sms = static_cast<int>(std::clamp<std::int64_t>(sms, 1, 4096));
  move.sweep.by_sms = blocks == sms;
  move.seconds = cells.number(row, "time_us", 1.0, 1e-3) * 1e-6;
  for (const char* other : {"GB_per_s", "ci_low_us", "ci_high_us"})
    static_cast<void>(cells.number(row, other, 0.0, 0.0));
  move.held_out = hash_text(fmt::format("{}/{}/{}/{}", kPatterns[move.sweep.pattern].name,
                                          static_cast<int>(move.sweep.level), move.moved.count(), move.sms)) %
                        4 ==
                    0;
  table.rows.push_back(move);
}

struct Rule {
  LatencyLine line;  // of all multiprocessors
  Bandwidth one;     // by multiprocessors: rate of one

  [[nodiscard]] double seconds(const MeasuredMove& move) const {
    if (!move.sweep.by_sms) return line.seconds(move.moved);
    return static_cast<double>(move.moved.count()) / std::min(one.count() * move.sms, line.rate.count());
  }
};

struct Curve {
  Sweep sweep;
  Rule rule;
  std::vector<MeasuredMove> rows;
};

// The rate of one multiprocessor, and the maximum of all of them.
Rule fit_by_sms(std::span<const MeasuredMove> rows) {
  constexpr std::array kBounds = {FitConstant{0.5, 500.0, 40.0}, FitConstant{50.0, 20000.0, 2000.0}};  // GB/s
  const auto rule_of = [](std::span<const double> values) {
    return Rule{.line = {.latency = {}, .rate = Bandwidth(values[1] * 1e9)}, .one = Bandwidth(values[0] * 1e9)};
  };
  const FitAnswer answer = fit(kBounds, [&](std::span<const double> values) {
    double sum = 0.0;
    std::size_t count = 0;
    for (const MeasuredMove& row : rows) {
      if (row.held_out) continue;
      sum += std::abs(std::log(rule_of(values).seconds(row) / row.seconds));
      ++count;
    }
    return count > 0 ? sum / static_cast<double>(count) : 0.0;
  });
  return rule_of(answer.values);
}

std::vector<Curve> fit_curves(const MemoryTable& table) {
  std::vector<Curve> curves;
  for (const MeasuredMove& row : table.rows) {
    auto found = std::ranges::find(curves, row.sweep, &Curve::sweep);
    if (found == curves.end()) found = curves.insert(curves.end(), {.sweep = row.sweep, .rule = {}, .rows = {}});
    found->rows.push_back(row);
  }
  for (Curve& curve : curves) {
    if (curve.sweep.by_sms) {
      curve.rule = fit_by_sms(curve.rows);
      continue;
    }
    std::vector<SizedTime> points;
    for (const MeasuredMove& row : curve.rows) {
      if (!row.held_out) points.push_back({.bytes = row.moved, .seconds = row.seconds});
    }
    curve.rule.line = fit_latency_line(points);
  }
  return curves;
}

constexpr std::size_t kLeastFitted = 2;  // a line, or a rate and a maximum

std::string curve_name(const Curve& curve) {
  return fmt::format("{}, {}{}", kPatterns[curve.sweep.pattern].name, curve.sweep.level == Level::kL2 ? "L2" : "memory",
                     curve.sweep.by_sms ? ", by multiprocessors" : "");
}

std::string rule_of(const Curve& curve) {
  if (!curve.sweep.by_sms)
    return fmt::format("{} + bytes / {}", to_string(curve.rule.line.latency), to_string(curve.rule.line.rate));
  return fmt::format("{} each, {:.0f} of them fill {}", to_string(curve.rule.one),
                     std::ceil(curve.rule.line.rate.count() / curve.rule.one.count()), to_string(curve.rule.line.rate));
}

TableScore score(const MemoryTable& table) {
  TableScore answer{.gpu = table.gpu, .text = table.gpu + "\n", .json = {}, .plot = {}, .parts = {}};
  std::vector<PlotSeries> series;
  std::string objects;
  for (const Curve& curve : fit_curves(table)) {
    std::vector<PredictedMeasured> fitted, unseen;
    PlotSeries points{.name = curve_name(curve), .colour = kPatterns[curve.sweep.pattern].colour, .points = {}};
    for (const MeasuredMove& row : curve.rows) {
      points.points.push_back({.predicted = curve.rule.seconds(row), .measured = row.seconds});
      (row.held_out ? unseen : fitted).push_back(points.points.back());
    }
    if (fitted.size() < kLeastFitted) {
      answer.text += fmt::format("  {:<36}not fitted: all but {} of its {} rows are held out\n", points.name,
                                 fitted.size(), curve.rows.size());
      continue;
    }
    const ScoredPart part{.name = points.name, .fitted = error_statistics(fitted), .unseen = error_statistics(unseen)};
    answer.text += fmt::format("  {:<36}{:<44}fitted: {}; new: {}\n", part.name, rule_of(curve),
                               errors_text(part.fitted), errors_text(part.unseen));
    objects += fmt::format(
        "{}{{\"curve\": {}, \"latency_s\": {:.6g}, \"rate_bytes_per_s\": {:.6g}, \"one_sm_bytes_per_s\": {:.6g}, "
        "\"fitted\": {:.6g}, \"unseen\": {:.6g}}}",
        objects.empty() ? "" : ", ", json_text(part.name), to_seconds(curve.rule.line.latency),
        curve.rule.line.rate.count(), curve.rule.one.count(), part.fitted.mean_abs, part.unseen.mean_abs);
    series.push_back(std::move(points));
    answer.parts.push_back(part);
  }
  answer.json = fmt::format("{{\"gpu\": {}, \"curves\": [{}]}}", json_text(table.gpu), objects);
  answer.plot = {.name = "memory-" + table.gpu + ".svg", .text = scatter_svg("memory, " + table.gpu, series)};
  return answer;
}

}  // namespace

Result<ValidationOutcome> validate_memory(const ValidationRequest& request) {
  constexpr TableKind kKind{.family = "memory",
                            .title = "Device memory and L2: two rules against measured times",
                            .docs = "memory",
                            .threshold = kMemoryCurvesThreshold};
  return validate_tables(request, kKind, [](const std::string& file) -> Result<TableScore> {
    const auto table = read_measured<MemoryTable>(read_csv(file), kMemoryCurvesFormat, read_memory_curves_row);
    if (!table) return tl::unexpected(table.error());
    return score(*table);
  });
}

}  // namespace ringwright::validation
