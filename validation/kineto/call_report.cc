#include "validation/kineto/call_report.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/base/json_text.h"
#include "core/report/text_table.h"

namespace ringwright::validation {
namespace {

constexpr std::array kCallBands = {SizeBand::kSmall, SizeBand::kMiddle, SizeBand::kLarge};
constexpr std::size_t kRowsShown = 200;

std::string us_cell(Duration time) {
  return fmt::format("{:.1f}", to_seconds(time) * 1e6);
}

std::string error_of(Duration simulated, Duration measured) {
  return fmt::format("{:+.1f} %", 100.0 * (ratio(simulated, measured) - 1.0));
}

std::string block(const TextTable& table) {
  std::string text;
  for (const std::string& line : table.lines()) text += "  " + line + "\n";
  return text;
}

std::string variant_cell(const std::string& algorithm, const std::string& protocol) {
  if (algorithm.empty()) return "-";
  return protocol.empty() ? algorithm : algorithm + "_" + protocol;
}

}  // namespace

std::string calls_text(const CallReplay& replay, CallsBy by) {
  const bool named = by == CallsBy::kCommunicator;
  TextTable table({Align::kLeft, Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight,
                   Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kLeft, Align::kLeft});
  table.add_row({named ? "communicator" : "", "collective", "bytes", "hosts", "GPUs each", "calls", "measured us",
                 "median us", "simulated us", "error", "recorded as", "simulated as"});
  for (std::size_t i = 0; i < std::min(kRowsShown, replay.rows.size()); ++i) {
    const ReplayedCalls& row = replay.rows[i];
    table.add_row({shorten(row.communicator, 24), row.operation, fmt::format("{}", row.bytes.count()),
                   fmt::format("{}", row.shape.hosts), fmt::format("{}", row.shape.gpus_per_host),
                   fmt::format("{}", row.calls), us_cell(row.measured), us_cell(row.median), us_cell(row.simulated),
                   error_of(row.simulated, row.measured), row.kernel.empty() ? "-" : row.kernel,
                   variant_cell(row.algorithm, row.protocol)});
  }
  std::string text =
      fmt::format("Recorded collectives and the same on {}, {} GPUs of a host\n", replay.cluster, replay.gpus_per_host);
  text += block(table);
  if (replay.rows.size() > kRowsShown) text += fmt::format("  and {} rows\n", replay.rows.size() - kRowsShown);
  return text;
}

std::string gemms_text(const GemmReplay& replay) {
  if (replay.rows.empty()) return "";
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kRight,
                   Align::kRight, Align::kRight, Align::kRight});
  table.add_row({"type", "batch", "m", "n", "k", "calls", "measured us", "simulated us", "error"});
  for (std::size_t i = 0; i < std::min(kRowsShown, replay.rows.size()); ++i) {
    const ReplayedGemm& row = replay.rows[i];
    const Kernel& kernel = row.kernel;
    table.add_row({std::string(to_string(kernel.type)), fmt::format("{}", kernel.batch), fmt::format("{}", kernel.m),
                   fmt::format("{}", kernel.n), fmt::format("{}", kernel.k), fmt::format("{}", row.calls),
                   us_cell(row.measured), us_cell(row.simulated), error_of(row.simulated, row.measured)});
  }
  const ErrorStatistics errors = error_statistics(pairs_of(replay.rows));
  return "Matrix multiplications by shape (m x k times k x n), medians\n" + block(table) +
         fmt::format("  geometric mean of the absolute error: {:.1f} % of {} shapes\n",
                     100.0 * errors.geometric_mean_abs, errors.count);
}

std::string bands_text(const CallReplay& replay) {
  std::string text;
  for (const SizeBand band : kCallBands) {
    const ErrorStatistics errors = error_statistics(pairs_of(replay.rows, band));
    if (errors.count == 0) continue;
    text += fmt::format("  {}: {:.1f} % ({} rows; mean {:+.1f} %)\n", to_string(band),
                        100.0 * errors.geometric_mean_abs, errors.count, 100.0 * errors.mean_error);
  }
  return text.empty() ? text : "Geometric mean of the absolute error, by size\n" + text;
}

std::string calls_json(const CallReplay& replay, const GemmReplay& gemms) {
  std::vector<std::string> rows, bands, shapes;
  for (const ReplayedCalls& row : replay.rows) {
    rows.push_back(fmt::format(
        "    {{\"communicator\": {}, \"operation\": {}, \"bytes\": {}, \"hosts\": {}, \"gpus_per_host\": {}, "
        "\"calls\": {}, \"measured_us\": {:.6g}, \"median_us\": {:.6g}, \"simulated_us\": {:.6g}, \"recorded_as\": {}, "
        "\"algorithm\": {}, \"protocol\": {}}}",
        json_text(row.communicator), json_text(row.operation), row.bytes.count(), row.shape.hosts,
        row.shape.gpus_per_host, row.calls, to_seconds(row.measured) * 1e6, to_seconds(row.median) * 1e6,
        to_seconds(row.simulated) * 1e6, json_text(row.kernel), json_text(row.algorithm), json_text(row.protocol)));
  }
  for (const SizeBand band : kCallBands) {
    const ErrorStatistics errors = error_statistics(pairs_of(replay.rows, band));
    bands.push_back(fmt::format("    {{\"band\": {}, \"rows\": {}, \"geometric_mean_abs\": {:.6g}}}",
                                json_text(to_string(band)), errors.count, errors.geometric_mean_abs));
  }
  for (const ReplayedGemm& row : gemms.rows) {
    shapes.push_back(
        fmt::format("    {{\"type\": {}, \"batch\": {}, \"m\": {}, \"n\": {}, \"k\": {}, \"calls\": {}, "
                    "\"measured_us\": {:.6g}, \"simulated_us\": {:.6g}}}",
                    json_text(to_string(row.kernel.type)), row.kernel.batch, row.kernel.m, row.kernel.n, row.kernel.k,
                    row.calls, to_seconds(row.measured) * 1e6, to_seconds(row.simulated) * 1e6));
  }
  return fmt::format(
      "{{\n  \"schema\": \"ringwright.validate.calls/1\",\n  \"cluster\": {},\n  \"collectives\": [\n{}\n  ],\n  "
      "\"bands\": [\n{}\n  ],\n  \"gemms\": [\n{}\n  ]\n}}\n",
      json_text(replay.cluster), fmt::join(rows, ",\n"), fmt::join(bands, ",\n"), fmt::join(shapes, ",\n"));
}

bool within(const CallReplay& replay, std::optional<double> threshold) {
  if (!threshold) return true;
  return std::ranges::all_of(kCallBands, [&](SizeBand band) {
    const ErrorStatistics errors = error_statistics(pairs_of(replay.rows, band));
    return errors.count == 0 || errors.geometric_mean_abs <= *threshold;
  });
}

Diagnostics why_left_out(const CallReplay& replay, const std::string& file) {
  Diagnostics warnings;
  const auto warn = [&](std::size_t calls, std::string_view why) {
    if (calls == 0) return;
    warnings.add({.severity = Severity::kWarning,
                  .code = "W265",
                  .place = {.file = file},
                  .message = fmt::format("{} calls are not compared: {}", calls, why)});
  };
  warn(replay.without_size, "their size is not recorded");
  warn(replay.not_collective, "they are messages, barriers or calls whose kind is not recorded");
  warn(replay.uneven, fmt::format("their ranks do not lie evenly on hosts of {} GPUs", replay.gpus_per_host));
  return warnings;
}

}  // namespace ringwright::validation
