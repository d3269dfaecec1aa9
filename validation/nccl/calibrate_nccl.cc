// Calibration from nccl-tests: the few constants of a platform for which simulated collectives are nearest to measured
// ones, within the range of platforms of its class (class_fit.h).
//
// In each log each band of sizes has the same weight, however many rows it has: neighbouring sizes carry the same
// information. A constant that the rows do not determine stays at its class value and out of the profile. The platform
// is fitted, never a row: the profile holds no sizes.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "configs/scenario/nccl_host.h"
#include "core/base/json_text.h"
#include "core/report/text_table.h"
#include "traces/nccl_tests/collective_log.h"
#include "validation/builtin.h"
#include "validation/fit/class_fit.h"
#include "validation/fit/platform_constants.h"
#include "validation/nccl/collective_replay.h"
#include "validation/nccl/nccl_logs.h"

namespace ringwright::validation {
namespace {

using namespace ringwright::literals;

// Sizes that a log is thinned to, evenly: neighbours carry the same information. Beyond the largest, times grow with
// the size.
constexpr std::size_t kSizesOfALog = 11;
constexpr Bytes kLargestInside = 1_GiB;  // on one host
constexpr Bytes kLargestBetween = 128_MiB;
// Rows that a band of one log counts for, and the most that a single row counts for. Large sizes repeat within 1 to 3
// %, others within 5 to 10 %.
struct BandWeight {
  double band = 4.0;
  double row = 1.0;
};
constexpr BandWeight weight_of(SizeBand band) {
  return band == SizeBand::kLarge ? BandWeight{.band = 12.0, .row = 4.0} : BandWeight{};
}

traces::CollectiveLog thinned(traces::CollectiveLog log) {
  const Bytes largest = log.nodes > 1 ? kLargestBetween : kLargestInside;
  if (log.rows.front().size <= largest) {
    std::erase_if(log.rows, [&](const traces::CollectiveRow& row) { return row.size > largest; });
  }
  const std::size_t count = log.rows.size();
  if (count <= kSizesOfALog) return log;
  std::vector<traces::CollectiveRow> kept;
  for (std::size_t i = 0; i < kSizesOfALog; ++i) kept.push_back(log.rows[i * (count - 1) / (kSizesOfALog - 1)]);
  log.rows = std::move(kept);
  return log;
}

std::vector<ClassResidual> residuals_of(const std::vector<ReplayedLog>& logs) {
  std::vector<ClassResidual> residuals;
  for (const ReplayedLog& log : logs) {
    std::array<double, kSizeBands> rows{};
    for (const ReplayedRow& row : log.rows) ++rows[static_cast<std::size_t>(band_of(row.size))];
    for (const ReplayedRow& row : log.rows) {
      const SizeBand band = band_of(row.size);
      const double share = weight_of(band).band / rows[static_cast<std::size_t>(band)];
      residuals.push_back(
          {.error = std::log(ratio(row.simulated, row.measured)), .weight = std::min(weight_of(band).row, share)});
    }
  }
  return residuals;
}

class NcclCalibration {
 public:
  NcclCalibration(std::vector<traces::CollectiveLog> logs, const CalibrationRequest& request)
      : logs_(std::move(logs)), request_(request) {}

  Result<CalibrationOutcome> run() {
    if (auto chosen = choose_constants(); !chosen) return tl::unexpected(chosen.error());
    const ClassFitAnswer answer =
        fit_to_class(bounds_, [&](std::span<const double> values) { return residuals(values); });
    const auto after = replay_all(logs_, options(answer.values));
    if (!after) return tl::unexpected(after.error());
    CalibrationOutcome outcome;
    outcome.profile = profile(answer, *after);
    outcome.text = text(answer, *after);
    outcome.json = json(answer);
    for (const ReplayedLog& log : *after) warn_of_poor_fit(log, outcome);
    return outcome;
  }

 private:
  // Calls within one host do not depend on constants of the network.
  Result<bool> choose_constants() {
    const auto played = replay_all(logs_, options({}));
    if (!played) return tl::unexpected(played.error());
    // Values of the class: those of a machine without a profile. Of logs with and without a network, one with.
    const auto widest = std::ranges::max_element(logs_, {}, &traces::CollectiveLog::nodes);
    const auto plan = plan_replay(*widest, options({}));
    if (!plan) return tl::unexpected(plan.error());
    const configs::Scenario* const machine = &plan->scenario;
    platform_ = (*played)[static_cast<std::size_t>(widest - logs_.begin())].platform;
    const bool network = std::ranges::any_of(logs_, [&](const auto& log) { return log.nodes > 1; });
    for (const PlatformConstant& constant : platform_constants()) {
      if (constant.of == ConstantOf::kNetwork && !network) continue;
      // Without GPUDirect nothing is flushed: the constant is not a property of such a machine.
      if (constant.path == "comm.costs.network.flush" && !machine->comm.costs.gpudirect) continue;
      // The planned rate of links belongs to no class.
      if (request_.only && constant.unit == ConstantUnit::kShare) continue;
      const std::string part = constant.of == ConstantOf::kNetwork ? "network" : "kernels";
      if (request_.only && *request_.only != "costs" && *request_.only != part) continue;
      constants_.push_back(&constant);
      bounds_.push_back(constant.on(*machine));
    }
    for (const std::string& value : plan->machine.assumed) {
      const bool fitted = std::ranges::any_of(
          platform_constants(), [&](const auto& c) { return value.starts_with(fmt::format("{}=", c.path)); });
      if (!fitted) assumed_.push_back(value);
    }
    if (network) {
      transport_ = configs::cost_class_of(machine->cluster.host, machine->cluster.gpu, machine->nccl).transport;
    }
    return true;
  }

  [[nodiscard]] ReplayOptions options(std::span<const double> values) const {
    ReplayOptions options{.overrides = {"collectives.model=chunks"},
                          .cluster = request_.cluster,
                          .use_profile = UseProfile::kNo,
                          .node = request_.node};
    if (request_.classes) options.classes = *request_.classes;
    for (std::size_t i = 0; i < values.size(); ++i) {
      options.overrides.push_back(fmt::format("{}={}", constants_[i]->path, value_text(*constants_[i], values[i])));
    }
    options.overrides.insert(options.overrides.end(), request_.overrides.begin(), request_.overrides.end());
    return options;
  }

  [[nodiscard]] std::vector<ClassResidual> residuals(std::span<const double> values) const {
    const auto played = replay_all(logs_, options(values));
    return played ? residuals_of(*played) : std::vector<ClassResidual>();
  }

  [[nodiscard]] std::string value_line(std::size_t i, const ClassFitAnswer& answer, int indent) const {
    const std::string_view path = constants_[i]->path;
    return fmt::format("{:{}}{}: {}\n", "", indent, path.substr(path.find_last_of('.') + 1),
                       value_text(*constants_[i], answer.values[i]));
  }

  // The planned rate of links is not a value that every scenario has by itself: it is written even when it was not
  // determined.
  [[nodiscard]] bool is_written(std::size_t i, const ClassFitAnswer& answer) const {
    return answer.determined[i] || constants_[i]->unit == ConstantUnit::kShare;
  }

  // The constants below one map, each on its line; nothing when none of them mattered.
  [[nodiscard]] std::string map_text(const ClassFitAnswer& answer, const std::string& path, int indent) const {
    std::string lines;
    for (std::size_t i = 0; i < constants_.size(); ++i) {
      const std::string_view full = constants_[i]->path;
      if (is_written(i, answer) && full.substr(0, full.find_last_of('.')) == path)
        lines += value_line(i, answer, indent + 2);
    }
    // Assumptions about the log that no fit can find, such as the time of a channel on the host.
    for (const std::string& value : assumed_) {
      const std::size_t equals = value.find('=');
      const std::size_t dot = value.find_last_of('.', equals);
      if (value.substr(0, dot) != path) continue;
      lines += fmt::format("{:{}}{}: {}\n", "", indent + 2, value.substr(dot + 1, equals - dot - 1),
                           value.substr(equals + 1));
    }
    if (lines.empty()) return "";
    return fmt::format("{:{}}{}:\n", "", indent, path.substr(path.find_last_of('.') + 1)) + lines;
  }

  [[nodiscard]] std::string profile(const ClassFitAnswer& answer, const std::vector<ReplayedLog>& after) const {
    std::vector<std::string> names, sources;
    for (const traces::CollectiveLog& log : logs_) {
      names.push_back(log_name(log.file));
      const std::string source = log.fact("source");
      if (!source.empty() && std::ranges::find(sources, source) == sources.end()) sources.push_back(source);
    }
    std::string text = fmt::format("# Constants of collectives on {}, fitted to measurements.\n", platform_);
    text +=
        "# Made by `ringwright calibrate nccl`; use it with `preset: NAME` at the head of a scenario, or `extends`.\n";
    for (const ReplayedLog& log : after) text += "# " + residual(log) + "\n";
    text += undetermined(answer);
    text += "evidence: calibrated\n";
    const std::string stated = sources.empty() ? "" : fmt::format(" ({})", fmt::join(sources, ", "));
    text += fmt::format("source: {}\n\n", json_text(fmt::format("fit to {}{}", fmt::join(names, ", "), stated)));
    text += "collectives: {model: chunks}\n";
    std::string links = map_text(answer, "cluster.node.nvlink", 4) + map_text(answer, "cluster.node.nic", 4);
    if (!transport_.empty()) links += "      transport: " + transport_ + "\n";
    if (!links.empty()) text += "cluster:\n  node:\n" + links;
    std::string costs = map_text(answer, "comm.costs", 2);
    if (costs.empty()) costs = "  costs:\n";
    for (const char* map :
         {"comm.costs.host", "comm.costs.ll", "comm.costs.ll128", "comm.costs.simple", "comm.costs.network"}) {
      costs += map_text(answer, map, 4);
    }
    // Constants that were not determined are those that the fit began with.
    const bool planned = request_.classes && *request_.classes == "none";
    if (planned || costs != "  costs:\n") text += "comm:\n";
    if (planned) text += "  classes: planning\n";
    if (costs != "  costs:\n") text += costs;
    return text;
  }

  [[nodiscard]] std::string undetermined(const ClassFitAnswer& answer) const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < constants_.size(); ++i) {
      if (!answer.determined[i]) names.emplace_back(constants_[i]->path.substr(constants_[i]->path.find('.') + 1));
    }
    if (names.empty()) return "";
    return fmt::format("# Not determined by these measurements, so left at the values of the class: {}.\n",
                       fmt::join(names, ", "));
  }

  // A fit that leaves much over has not found what limits the machine.
  static void warn_of_poor_fit(const ReplayedLog& log, CalibrationOutcome& outcome) {
    constexpr double kMostLeft = 0.30;
    for (const SizeBand band : {SizeBand::kSmall, SizeBand::kMiddle, SizeBand::kLarge}) {
      const ErrorStatistics errors = error_statistics(pairs_of(log.rows, band, Against::kSimulation));
      if (errors.count == 0 || errors.median_abs <= kMostLeft) continue;
      outcome.passed = false;
      outcome.warnings.add({.severity = Severity::kWarning,
                            .code = "W363",
                            .place = {.file = log.file},
                            .message = fmt::format("the fit leaves {:.0f} % over in the median {}; limit {:.0f} %",
                                                   100.0 * errors.median_abs, to_string(band), 100.0 * kMostLeft),
                            .hint = "no constants of a machine of this class meet these rows: look for another "
                                    "network, settings, or a disturbed measurement"});
    }
  }

  [[nodiscard]] static std::string residual(const ReplayedLog& log) {
    std::vector<std::string> bands;
    for (const SizeBand band : {SizeBand::kSmall, SizeBand::kMiddle, SizeBand::kLarge}) {
      const ErrorStatistics errors = error_statistics(pairs_of(log.rows, band, Against::kSimulation));
      if (errors.count > 0)
        bands.push_back(fmt::format("{} {:.1f} %", to_string(band), 100.0 * errors.geometric_mean_abs));
    }
    return fmt::format("{}: {}, left over: {}", log_name(log.file), log.operation, fmt::join(bands, ", "));
  }

  [[nodiscard]] std::string text(const ClassFitAnswer& answer, const std::vector<ReplayedLog>& after) const {
    TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kLeft, Align::kRight});
    table.add_row({"constant", "class", "fitted", "", "spread left"});
    for (std::size_t i = 0; i < constants_.size(); ++i) {
      const bool bound = answer.values[i] <= bounds_[i].low * 1.001 || answer.values[i] >= bounds_[i].high * 0.999;
      table.add_row({std::string(constants_[i]->path), value_text(*constants_[i], bounds_[i].start),
                     answer.determined[i] ? value_text(*constants_[i], answer.values[i]) : "-",
                     !answer.determined[i] ? "not determined" : (bound ? "at its bound" : ""),
                     fmt::format("{:.0f} %", 100.0 * answer.left_over[i])});
    }
    std::string text =
        fmt::format("{}: mean absolute error {:.1f} % before, {:.1f} % after {} rounds\n", platform_,
                    100.0 * std::expm1(answer.error_at_start), 100.0 * std::expm1(answer.error), answer.rounds);
    for (const std::string& line : table.lines()) text += "  " + line + "\n";
    for (const ReplayedLog& log : after) text += residual(log) + "\n";
    return text;
  }

  [[nodiscard]] std::string json(const ClassFitAnswer& answer) const {
    // A constant that rows feel without determining it: they do not speak against the value of the class.
    constexpr double kFelt = 0.95;
    std::vector<std::string> rows, felt;
    for (std::size_t i = 0; i < constants_.size(); ++i) {
      std::string row = fmt::format("    {}: {}", json_text(constants_[i]->path),
                                    json_text(value_text(*constants_[i], answer.values[i])));
      if (answer.determined[i]) {
        rows.push_back(std::move(row));
      } else if (answer.left_over[i] < kFelt) {
        felt.push_back(std::move(row));
      }
    }
    return fmt::format(
        "{{\n  \"schema\": \"ringwright.calibrate.nccl/1\",\n  \"platform\": {},\n  \"error_before\": {:.6g},\n"
        "  \"error_after\": {:.6g},\n  \"constants\": {{\n{}\n  }},\n  \"felt\": {{\n{}\n  }}\n}}\n",
        json_text(platform_), std::expm1(answer.error_at_start), std::expm1(answer.error), fmt::join(rows, ",\n"),
        fmt::join(felt, ",\n"));
  }

  std::vector<std::string> assumed_;  // as overrides
  std::string transport_;             // between the hosts of the logs; empty: there is one
  std::vector<traces::CollectiveLog> logs_;
  const CalibrationRequest& request_;
  std::string platform_;
  std::vector<const PlatformConstant*> constants_;
  std::vector<ClassConstant> bounds_;
};

}  // namespace

Result<CalibrationOutcome> calibrate_nccl(const CalibrationRequest& request) {
  auto read = read_nccl_logs(request.files, request.collective);
  if (!read) return tl::unexpected(read.error());
  std::vector<traces::CollectiveLog> logs;
  for (traces::CollectiveLog& log : read->logs) logs.push_back(thinned(std::move(log)));
  auto outcome = NcclCalibration(std::move(logs), request).run();
  if (!outcome) return outcome;
  for (const Diagnostic& warning : read->warnings.all()) outcome->warnings.add(warning);
  return outcome;
}

}  // namespace ringwright::validation
