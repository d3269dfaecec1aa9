// Calibration from nccl-tests: the few constants of a platform for which played collectives are nearest to measured ones.
//
// The error is the mean absolute logarithm of simulated over measured time, with equal weight for each log and in it for
// each band of sizes; that is robust against single bad rows. Constants that no row feels keep their default and stay out
// of the profile. What is fitted is the platform, never a row: the profile holds no sizes.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "core/base/json_text.h"
#include "core/report/text_table.h"
#include "traces/collective_log.h"
#include "validation/bounded_fit.h"
#include "validation/builtin.h"
#include "validation/collective_replay.h"
#include "validation/nccl_logs.h"
#include "validation/platform_constants.h"

namespace ringwright::validation {
namespace {

using namespace ringwright::literals;

// Sizes that a log is thinned to, evenly: neighbours say the same. Beyond the largest, times grow with the size.
constexpr std::size_t kSizesOfALog = 14;
constexpr Bytes kLargest = 256_MiB;
constexpr double kHopeless = 1e3;  // the error of constants that cannot be played

std::string name_of(const std::string& file) { return std::filesystem::path(file).filename().string(); }

traces::CollectiveLog thinned(traces::CollectiveLog log) {
  if (log.rows.front().size <= kLargest) {
    std::erase_if(log.rows, [](const traces::CollectiveRow& row) { return row.size > kLargest; });
  }
  const std::size_t count = log.rows.size();
  if (count <= kSizesOfALog) return log;
  std::vector<traces::CollectiveRow> kept;
  for (std::size_t i = 0; i < kSizesOfALog; ++i) kept.push_back(log.rows[i * (count - 1) / (kSizesOfALog - 1)]);
  log.rows = std::move(kept);
  return log;
}

double error_of(const ReplayedLog& log) {
  double sum = 0.0;
  int bands = 0;
  for (const SizeBand band : {SizeBand::kSmall, SizeBand::kMiddle, SizeBand::kLarge}) {
    const ErrorStatistics errors = error_statistics(pairs_of(log.rows, band, Against::kSimulation));
    if (errors.count == 0) continue;
    sum += std::log1p(errors.geometric_mean_abs);
    ++bands;
  }
  return bands == 0 ? 0.0 : sum / bands;
}

class NcclCalibration {
 public:
  NcclCalibration(std::vector<traces::CollectiveLog> logs, const CalibrationRequest& request)
      : logs_(std::move(logs)), request_(request) {}

  Result<CalibrationOutcome> run() {
    if (auto told = choose_constants(); !told) return tl::unexpected(told.error());
    const FitAnswer answer = fit(bounds_, [&](std::span<const double> values) { return error(values); });
    const auto after = replay_all(logs_, options(answer.values));
    if (!after) return tl::unexpected(after.error());
    CalibrationOutcome outcome;
    outcome.profile = profile(answer, *after);
    outcome.text = text(answer, *after);
    outcome.json = json(answer);
    return outcome;
  }

 private:
  // Calls within one host feel no constant of the network.
  Result<bool> choose_constants() {
    const auto played = replay_all(logs_, options({}));
    if (!played) return tl::unexpected(played.error());
    platform_ = played->front().platform;
    const bool network = std::ranges::any_of(logs_, [&](const auto& log) { return log.nodes > 1; });
    for (const PlatformConstant& constant : platform_constants()) {
      if (constant.of == ConstantOf::kNetwork && !network) continue;
      constants_.push_back(&constant);
      bounds_.push_back(constant.bounds);
    }
    return true;
  }

  [[nodiscard]] ReplayOptions options(std::span<const double> values) const {
    ReplayOptions options{.overrides = {"collectives.model=chunks"}, .cluster = request_.cluster,
                          .use_profile = UseProfile::kNo};
    for (std::size_t i = 0; i < values.size(); ++i) {
      options.overrides.push_back(fmt::format("{}={}", constants_[i]->path, value_text(*constants_[i], values[i])));
    }
    options.overrides.insert(options.overrides.end(), request_.overrides.begin(), request_.overrides.end());
    return options;
  }

  [[nodiscard]] double error(std::span<const double> values) const {
    const auto played = replay_all(logs_, options(values));
    if (!played) return kHopeless;
    double sum = 0.0;
    for (const ReplayedLog& log : *played) sum += error_of(log);
    return sum / static_cast<double>(played->size());
  }

  [[nodiscard]] std::string value_line(std::size_t i, const FitAnswer& answer, int indent) const {
    const std::string_view path = constants_[i]->path;
    return fmt::format("{:{}}{}: {}\n", "", indent, path.substr(path.find_last_of('.') + 1),
                       value_text(*constants_[i], answer.values[i]));
  }

  // The constants below one map, each on its line; nothing when none of them mattered.
  [[nodiscard]] std::string map_text(const FitAnswer& answer, const std::string& path, int indent) const {
    std::string lines;
    for (std::size_t i = 0; i < constants_.size(); ++i) {
      const std::string_view full = constants_[i]->path;
      if (answer.matters[i] && full.substr(0, full.find_last_of('.')) == path) lines += value_line(i, answer, indent + 2);
    }
    if (lines.empty()) return "";
    return fmt::format("{:{}}{}:\n", "", indent, path.substr(path.find_last_of('.') + 1)) + lines;
  }

  [[nodiscard]] std::string profile(const FitAnswer& answer, const std::vector<ReplayedLog>& after) const {
    std::vector<std::string> names, sources;
    for (const traces::CollectiveLog& log : logs_) {
      names.push_back(name_of(log.file));
      const std::string source = log.fact("source");
      if (!source.empty() && std::ranges::find(sources, source) == sources.end()) sources.push_back(source);
    }
    std::string text = fmt::format("# Constants of collectives on {}, fitted to measurements.\n", platform_);
    text += "# Made by `ringwright calibrate nccl`; use it with `preset: NAME` at the head of a scenario, or `extends`.\n";
    for (const ReplayedLog& log : after) text += "# " + residual(log) + "\n";
    text += "evidence: calibrated\n";
    text += fmt::format("source: {}\n\n", json_text(fmt::format("fit to {} ({})", fmt::join(names, ", "), fmt::join(sources, ", "))));
    text += "collectives: {model: chunks}\n";
    const std::string links = map_text(answer, "cluster.node.nvlink", 4) + map_text(answer, "cluster.node.nic", 4);
    if (!links.empty()) text += "cluster:\n  node:\n" + links;
    std::string costs = map_text(answer, "comm.costs", 2);
    if (costs.empty()) costs = "  costs:\n";
    for (const char* map : {"comm.costs.ll", "comm.costs.ll128", "comm.costs.simple", "comm.costs.network"}) {
      costs += map_text(answer, map, 4);
    }
    if (costs != "  costs:\n") text += "comm:\n" + costs;
    return text;
  }

  [[nodiscard]] static std::string residual(const ReplayedLog& log) {
    std::vector<std::string> bands;
    for (const SizeBand band : {SizeBand::kSmall, SizeBand::kMiddle, SizeBand::kLarge}) {
      const ErrorStatistics errors = error_statistics(pairs_of(log.rows, band, Against::kSimulation));
      if (errors.count > 0) bands.push_back(fmt::format("{} {:.1f} %", to_string(band), 100.0 * errors.geometric_mean_abs));
    }
    return fmt::format("{}: {}, left over: {}", name_of(log.file), log.operation, fmt::join(bands, ", "));
  }

  [[nodiscard]] std::string text(const FitAnswer& answer, const std::vector<ReplayedLog>& after) const {
    TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kLeft});
    table.add_row({"constant", "start", "fitted", ""});
    for (std::size_t i = 0; i < constants_.size(); ++i) {
      const bool bound = answer.values[i] <= bounds_[i].low * 1.001 || answer.values[i] >= bounds_[i].high * 0.999;
      table.add_row({std::string(constants_[i]->path), value_text(*constants_[i], bounds_[i].start),
                     answer.matters[i] ? value_text(*constants_[i], answer.values[i]) : "-",
                     !answer.matters[i] ? "no row feels it" : (bound ? "at its bound" : "")});
    }
    std::string text = fmt::format("{}: geometric mean of the absolute error {:.1f} % before, {:.1f} % after {} rounds\n", platform_,
                                   100.0 * std::expm1(answer.error_at_start), 100.0 * std::expm1(answer.error), answer.rounds);
    for (const std::string& line : table.lines()) text += "  " + line + "\n";
    for (const ReplayedLog& log : after) text += residual(log) + "\n";
    return text;
  }

  [[nodiscard]] std::string json(const FitAnswer& answer) const {
    std::vector<std::string> rows;
    for (std::size_t i = 0; i < constants_.size(); ++i) {
      if (!answer.matters[i]) continue;
      rows.push_back(fmt::format("    {}: {}", json_text(constants_[i]->path),
                                 json_text(value_text(*constants_[i], answer.values[i]))));
    }
    return fmt::format("{{\n  \"schema\": \"ringwright.calibrate.nccl/1\",\n  \"platform\": {},\n  \"error_before\": {:.6g},\n"
                       "  \"error_after\": {:.6g},\n  \"constants\": {{\n{}\n  }}\n}}\n",
                       json_text(platform_), std::expm1(answer.error_at_start), std::expm1(answer.error),
                       fmt::join(rows, ",\n"));
  }

  std::vector<traces::CollectiveLog> logs_;
  const CalibrationRequest& request_;
  std::string platform_;
  std::vector<const PlatformConstant*> constants_;
  std::vector<FitConstant> bounds_;
};

}  // namespace

Result<CalibrationOutcome> calibrate_nccl(const CalibrationRequest& request) {
  auto read = read_nccl_logs(request.files);
  if (!read) return tl::unexpected(read.error());
  std::vector<traces::CollectiveLog> logs;
  for (traces::CollectiveLog& log : read->logs) logs.push_back(thinned(std::move(log)));
  auto outcome = NcclCalibration(std::move(logs), request).run();
  if (outcome) outcome->warnings = std::move(read->warnings);
  return outcome;
}

}  // namespace ringwright::validation
