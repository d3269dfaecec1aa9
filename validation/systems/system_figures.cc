#include "validation/systems/system_figures.h"

#include <algorithm>
#include <array>
#include <optional>

#include "configs/scenario/named_machine.h"
#include "configs/simulation/collective_run.h"
#include "configs/simulation/simulate.h"
#include "core/base/shared_folder.h"
#include "core/base/text.h"
#include "planning/operation/goodput.h"
#include "planning/study/point.h"
#include "validation/reliability/reliability_cases.h"
#include "validation/systems/study_figures.h"

namespace ringwright::validation {
namespace {

constexpr double kGigabyte = 1e9;
constexpr std::array<std::string_view, 16> kStepFigures{
    "step_s",         "mean_step_s",     "tflops",       "mfu",
    "memory_gb",      "largest_weight_gb", "bubble_of_step",  "bubble_of_ideal", "held_at_peak",
    "weight_versions", "network_usd",    "network_watts",   "network_switches", "memory_gb ITEM",
    "bytes_gb DIMENSION [OPERATION]", "exposed_s DIMENSION"};
constexpr std::array<std::string_view, 6> kJobFigures{"ettr",     "faults", "wall_hours", "expected_mtbf_hours",
                                                      "recoveries_from_start", "held_gb"};
constexpr std::string_view kItemOf = "memory_gb ";
constexpr std::string_view kBytesOf = "bytes_gb ";
constexpr std::string_view kExposedOf = "exposed_s ";
constexpr std::string_view kTimeOf = "time_us ";
constexpr std::string_view kBusbwOf = "busbw ";

std::optional<double> item_of(const Report& report, std::string_view item) {
  if (report.facts.memory.empty()) return std::nullopt;
  for (const MemoryItem& one : report.facts.memory.front().items) {
    if (one.name == item) return static_cast<double>(one.size.count()) / kGigabyte;
  }
  return std::nullopt;
}

// "dp", or "dp all_gather".
std::optional<double> bytes_of(const Report& report, std::string_view which) {
  const std::size_t space = which.find(' ');
  const std::string_view dimension = which.substr(0, space);
  double sum = 0.0;
  bool found = false;
  for (const CollectiveUse& use : report.facts.collectives) {
    if (use.dimension != dimension) continue;
    if (space != std::string_view::npos && use.operation != which.substr(space + 1)) continue;
    sum += static_cast<double>(use.bytes.count()) * static_cast<double>(use.calls);
    found = true;
  }
  return found ? std::optional(sum / kGigabyte) : std::nullopt;
}

std::optional<double> exposed_of(const Report& report, std::string_view dimension) {
  for (const DimensionTime& one : report.everywhere.dimensions) {
    if (one.name == dimension) return to_seconds(one.exposed);
  }
  return std::nullopt;
}

std::optional<double> bubble_figure(const Report& report, std::string_view name) {
  if (report.bubbles.empty()) return std::nullopt;
  const StageBubble& first = report.bubbles.front();
  if (name == "bubble_of_step") return first.of_step();
  if (name == "bubble_of_ideal") return first.of_ideal();
  if (name == "held_at_peak") return first.held_at_peak;
  if (name == "weight_versions") return first.weight_versions;
  return std::nullopt;
}

std::optional<double> network_figure(const Report& report, std::string_view name) {
  if (!report.facts.cost_rates || !report.facts.cost_rates->network) return std::nullopt;
  const NetworkCost& network = *report.facts.cost_rates->network;
  if (name == "network_usd") return network.usd;
  if (name == "network_watts") return network.watts;
  return static_cast<double>(network.switches);
}

std::optional<double> figure_of_step(const Report& report, std::string_view name) {
  if (name.starts_with(kItemOf)) return item_of(report, name.substr(kItemOf.size()));
  if (name.starts_with(kBytesOf)) return bytes_of(report, name.substr(kBytesOf.size()));
  if (name.starts_with(kExposedOf)) return exposed_of(report, name.substr(kExposedOf.size()));
  if (name.starts_with("network_")) return network_figure(report, name);
  if (name == "step_s") return to_seconds(report.step_time.mean);
  if (name == "mean_step_s") {
    const auto& checkpoint = report.facts.checkpoint;
    return checkpoint && checkpoint->every > 0 ? std::optional(to_seconds(checkpoint->mean_step)) : std::nullopt;
  }
  if (name == "tflops") return report.model_flop_rate_per_gpu.count() / 1e12;
  if (name == "mfu") return report.model_flop_utilisation;
  if (name == "largest_weight_gb") {
    if (report.facts.memory.empty()) return std::nullopt;
    return static_cast<double>(report.facts.memory.front().largest_weight.count()) / kGigabyte;
  }
  if (name == "memory_gb") {
    if (!report.fullest_memory) return std::nullopt;
    return static_cast<double>(report.facts.memory[*report.fullest_memory].total.count()) / kGigabyte;
  }
  return bubble_figure(report, name);
}

// Of a scenario that may need more memory than its GPUs have: an optimizer's memory is a figure of such a run as well.
Result<double> step_figure(const SystemRow& row, const std::vector<std::string>& settings) {
  const std::string path = shared_folder("configs") + "/scenarios/" + row.scenario + ".yaml";
  const planning::LoadedPoint loaded = planning::PointSource(path).load(settings);
  if (!loaded.scenario) {
    return tl::unexpected(failure("E561", "'" + row.id + "' cannot be simulated: " + loaded.point.reason, row.place));
  }
  const auto outcome = configs::simulate(*loaded.scenario, configs::FoldMode::kFold);
  if (!outcome) return tl::unexpected(outcome.error());
  if (!outcome->report) {
    return tl::unexpected(failure("E561", "'" + row.id + "' does not end", row.place));
  }
  const auto figure = figure_of_step(*outcome->report, row.figure);
  if (!figure) {
    return tl::unexpected(
        failure("E561", "the step of '" + row.id + "' has no figure '" + row.figure + "'", row.place));
  }
  return *figure;
}

Result<double> job_figure(const SystemRow& row, const std::vector<std::string>& settings) {
  const auto result =
      planning::goodput(row.scenario, {.settings = settings, .workers = {}, .intervals = false, .compare = false});
  if (!result) return tl::unexpected(result.error());
  const auto figure = figure_of(*result, {.id = row.id, .metric = row.figure});
  if (!figure) {
    return tl::unexpected(failure("E561", "the job of '" + row.id + "' has no figure '" + row.figure + "'", row.place));
  }
  return *figure;
}

// With as many iterations and processes as `ringwright collective` has without options.
Result<double> collective_figure(const SystemRow& row, const std::vector<std::string>& settings) {
  const SystemCall call = system_call(row.figure).value_or(SystemCall());
  // The row was refused before if it named no operation.
  const auto operation = configs::parse_operation(call.operation).value_or(configs::CollectiveOperation::kAllReduce);
  const auto scenario = configs::load_named_machine(row.scenario, {.overrides = settings});
  if (!scenario) return tl::unexpected(scenario.error());
  configs::CollectiveBench bench(*scenario);
  const int ranks = bench.ranks(0);
  if (ranks < 2) {
    return tl::unexpected(failure("E561", "'" + row.id + "' needs a collective of two ranks or more", row.place));
  }
  constexpr int kElementBytes = 4;
  const Bytes bytes = configs::rounded_size(operation, call.bytes, ranks, kElementBytes);
  const int gpus = configs::usual_gpus_per_process(scenario->cluster, scenario->cluster.host.gpus);
  const auto result = bench.run({.operation = operation, .bytes = bytes, .gpus_per_process = gpus});
  if (!result) return tl::unexpected(result.error());
  const double seconds = to_seconds(result->time);
  if (row.figure.starts_with(kTimeOf)) return seconds * 1e6;
  return static_cast<double>(bytes.count()) / seconds * configs::bus_factor(operation, ranks) / kGigabyte;
}

Result<double> figure_with(const SystemRow& row, std::vector<std::string> settings,
                           const std::vector<std::string>& overrides) {
  settings.insert(settings.end(), overrides.begin(), overrides.end());
  if (row.run == SystemRun::kCollective) return collective_figure(row, settings);
  if (!study_figure_names(row.run).empty()) return study_figure(row, settings);
  return row.run == SystemRun::kStep ? step_figure(row, settings) : job_figure(row, settings);
}

}  // namespace

std::optional<SystemCall> system_call(std::string_view figure) {
  for (const std::string_view kind : {kTimeOf, kBusbwOf}) {
    if (!figure.starts_with(kind)) continue;
    figure.remove_prefix(kind.size());
    const std::size_t space = figure.find(' ');
    if (space == std::string_view::npos) return std::nullopt;
    const auto bytes = parse_bytes(figure.substr(space + 1));
    const std::string operation(figure.substr(0, space));
    if (!bytes || *bytes <= Bytes(0) || !configs::parse_operation(operation)) return std::nullopt;
    return SystemCall{.operation = operation, .bytes = *bytes};
  }
  return std::nullopt;
}

bool is_system_figure(SystemRun run, std::string_view name) {
  if (!study_figure_names(run).empty()) return is_study_figure(run, name);
  if (run == SystemRun::kCollective) return system_call(name).has_value();
  if (run == SystemRun::kGoodput) return std::ranges::find(kJobFigures, name) != kJobFigures.end();
  if (name.starts_with(kItemOf)) return name.size() > kItemOf.size();
  if (name.starts_with(kBytesOf)) return name.size() > kBytesOf.size();
  if (name.starts_with(kExposedOf)) return name.size() > kExposedOf.size();
  return std::ranges::find(kStepFigures, name) != kStepFigures.end();
}

std::string system_figure_names(SystemRun run) {
  std::vector<std::string> names;
  if (run == SystemRun::kGoodput) names.assign(kJobFigures.begin(), kJobFigures.end());
  if (run == SystemRun::kCollective) names = {"time_us OPERATION SIZE", "busbw OPERATION SIZE"};
  if (run == SystemRun::kStep) names.assign(kStepFigures.begin(), kStepFigures.end());
  for (const std::string_view name : study_figure_names(run)) names.emplace_back(name);
  return "one of " + join(names, ", ");
}

Result<double> simulated_figure(const SystemRow& row, const std::vector<std::string>& overrides) {
  const auto figure = figure_with(row, row.settings, overrides);
  if (!figure || row.base.empty()) return figure;
  const auto base = figure_with(row, row.base, overrides);
  if (!base) return base;
  if (!(*figure > 0.0)) {
    return tl::unexpected(failure("E561", "the ratio of '" + row.id + "' has no value: its figure is 0", row.place));
  }
  return *base / *figure;
}

}  // namespace ringwright::validation
