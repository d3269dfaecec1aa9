#include "validation/kineto/call_report.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/base/json_text.h"
#include "core/report/text_table.h"
#include "validation/kineto/operator_report.h"
#include "validation/kineto/replay_cells.h"

namespace ringwright::validation {
namespace {

constexpr std::array kCallBands = {SizeBand::kSmall, SizeBand::kMiddle, SizeBand::kLarge};

std::string variant_cell(const std::string& algorithm, const std::string& protocol) {
  if (algorithm.empty()) return "-";
  return protocol.empty() ? algorithm : algorithm + "_" + protocol;
}

}  // namespace

std::string calls_text(const CallReplay& replay, CallsBy by) {
  const bool named = by == CallsBy::kCommunicator;
  TextTable table({Align::kLeft, Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight,
                   Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kLeft, Align::kLeft,
                   Align::kLeft});
  table.add_row({named ? "communicator" : "", "collective", "bytes", "hosts", "GPUs each", "calls", "measured us",
                 "median us", "simulated us", "error", "recorded as", "simulated as", "recorded time"});
  for (std::size_t i = 0; i < std::min(kReplayRowsShown, replay.rows.size()); ++i) {
    const ReplayedCalls& row = replay.rows[i];
    table.add_row({shorten(row.communicator, 24), row.operation, fmt::format("{}", row.bytes.count()),
                   fmt::format("{}", row.shape.hosts), fmt::format("{}", row.shape.gpus_per_host),
                   fmt::format("{}", row.calls), us_cell(row.measured), us_cell(row.median), us_cell(row.simulated),
                   error_cell(row.simulated, row.measured), row.kernel.empty() ? "-" : row.kernel,
                   variant_cell(row.algorithm, row.protocol), std::string(to_string(row.own))});
  }
  std::string text =
      fmt::format("Recorded collectives and the same on {}, {} GPUs of a host\n", replay.cluster, replay.gpus_per_host);
  text += text_block(table);
  if (replay.rows.size() > kReplayRowsShown)
    text += fmt::format("  and {} rows\n", replay.rows.size() - kReplayRowsShown);
  return text;
}

std::string bands_text(const CallReplay& replay) {
  std::string text;
  for (const SizeBand band : kCallBands) {
    const ErrorStatistics errors = error_statistics(pairs_of(replay.rows, band));
    if (errors.count == 0) continue;
    text += fmt::format("  {}: {:.1f} % ({} rows; mean {:+.1f} %)\n", to_string(band),
                        100.0 * errors.geometric_mean_abs, errors.count, 100.0 * errors.mean_error);
  }
  if (!text.empty()) text = "Geometric mean of the absolute error, by size\n" + text;
  std::size_t bounds = 0, met = 0;
  for (const ReplayedCalls& row : replay.rows) {
    if (row.own == OwnTime::kRecorded) continue;
    ++bounds;
    if (row.simulated <= row.measured) ++met;
  }
  if (bounds > 0) {
    text += fmt::format("  {} rows hold no own time and are not compared; {} of them are simulated no longer than "
                        "recorded\n",
                        bounds, met);
  }
  return text;
}

std::string calls_json(const CallReplay& replay, const OperatorReplay& operators) {
  std::vector<std::string> rows, bands;
  for (const ReplayedCalls& row : replay.rows) {
    rows.push_back(fmt::format(
        "    {{\"communicator\": {}, \"operation\": {}, \"bytes\": {}, \"hosts\": {}, \"gpus_per_host\": {}, "
        "\"calls\": {}, \"measured_us\": {:.6g}, \"median_us\": {:.6g}, \"simulated_us\": {:.6g}, \"recorded_as\": {}, "
        "\"algorithm\": {}, \"protocol\": {}, \"recorded_time\": {}}}",
        json_text(row.communicator), json_text(row.operation), row.bytes.count(), row.shape.hosts,
        row.shape.gpus_per_host, row.calls, to_seconds(row.measured) * 1e6, to_seconds(row.median) * 1e6,
        to_seconds(row.simulated) * 1e6, json_text(row.kernel), json_text(row.algorithm), json_text(row.protocol),
        json_text(to_string(row.own))));
  }
  for (const SizeBand band : kCallBands) {
    const ErrorStatistics errors = error_statistics(pairs_of(replay.rows, band));
    bands.push_back(fmt::format("    {{\"band\": {}, \"rows\": {}, \"geometric_mean_abs\": {:.6g}}}",
                                json_text(to_string(band)), errors.count, errors.geometric_mean_abs));
  }
  return fmt::format(
      "{{\n  \"schema\": \"ringwright.validate.calls/1\",\n  \"cluster\": {},\n  \"collectives\": [\n{}\n  ],\n  "
      "\"bands\": [\n{}\n  ],\n  \"gemms\": [\n{}\n  ],\n  \"operators\": [\n{}\n  ]\n}}\n",
      json_text(replay.cluster), fmt::join(rows, ",\n"), fmt::join(bands, ",\n"), gemm_rows_json(operators),
      operator_rows_json(operators));
}

bool within(const CallReplay& replay, std::optional<double> threshold) {
  if (!threshold) return true;
  std::size_t compared = 0;
  for (const SizeBand band : kCallBands) compared += pairs_of(replay.rows, band).size();
  return compared > 0 && std::ranges::all_of(kCallBands, [&](SizeBand band) {
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
