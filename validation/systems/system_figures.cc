#include "validation/systems/system_figures.h"

#include <algorithm>
#include <array>
#include <optional>

#include "configs/simulation/simulate.h"
#include "core/base/shared_folder.h"
#include "core/base/text.h"
#include "planning/operation/goodput.h"
#include "planning/study/point.h"
#include "validation/reliability/reliability_cases.h"

namespace ringwright::validation {
namespace {

constexpr double kGigabyte = 1e9;
constexpr std::array<std::string_view, 10> kStepFigures{
    "step_s",          "tflops",       "mfu",        "memory_gb", "bubble_of_step", "bubble_of_ideal", "held_at_peak",
    "weight_versions", "memory_gb ITEM", "bytes_gb DIMENSION [OPERATION]"};
constexpr std::array<std::string_view, 4> kJobFigures{"ettr", "faults", "wall_hours", "expected_mtbf_hours"};
constexpr std::string_view kItemOf = "memory_gb ";
constexpr std::string_view kBytesOf = "bytes_gb ";

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

std::optional<double> bubble_figure(const Report& report, std::string_view name) {
  if (report.bubbles.empty()) return std::nullopt;
  const StageBubble& first = report.bubbles.front();
  if (name == "bubble_of_step") return first.of_step();
  if (name == "bubble_of_ideal") return first.of_ideal();
  if (name == "held_at_peak") return first.held_at_peak;
  if (name == "weight_versions") return first.weight_versions;
  return std::nullopt;
}

std::optional<double> figure_of_step(const Report& report, std::string_view name) {
  if (name.starts_with(kItemOf)) return item_of(report, name.substr(kItemOf.size()));
  if (name.starts_with(kBytesOf)) return bytes_of(report, name.substr(kBytesOf.size()));
  if (name == "step_s") return to_seconds(report.step_time.mean);
  if (name == "tflops") return report.model_flop_rate_per_gpu.count() / 1e12;
  if (name == "mfu") return report.model_flop_utilisation;
  if (name == "memory_gb") {
    if (!report.fullest_memory) return std::nullopt;
    return static_cast<double>(report.facts.memory[*report.fullest_memory].total.count()) / kGigabyte;
  }
  return bubble_figure(report, name);
}

// Of a scenario that may need more memory than its GPUs have: an optimizer's memory is a figure of such a run as well.
Result<double> step_figure(const SystemRow& row, const std::vector<std::string>& settings) {
  const std::string path = shared_folder("configs") + "/scenarios/" + row.scenario + ".yaml";
  const planning::LoadedPoint loaded = planning::load_point(path, settings);
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

Result<double> figure_with(const SystemRow& row, std::vector<std::string> settings,
                           const std::vector<std::string>& overrides) {
  settings.insert(settings.end(), overrides.begin(), overrides.end());
  return row.run == SystemRun::kStep ? step_figure(row, settings) : job_figure(row, settings);
}

}  // namespace

bool is_system_figure(SystemRun run, std::string_view name) {
  if (run == SystemRun::kGoodput) return std::ranges::find(kJobFigures, name) != kJobFigures.end();
  if (name.starts_with(kItemOf)) return name.size() > kItemOf.size();
  if (name.starts_with(kBytesOf)) return name.size() > kBytesOf.size();
  return std::ranges::find(kStepFigures, name) != kStepFigures.end();
}

std::string system_figure_names(SystemRun run) {
  std::vector<std::string> names;
  if (run == SystemRun::kGoodput) names.assign(kJobFigures.begin(), kJobFigures.end());
  if (run == SystemRun::kStep) names.assign(kStepFigures.begin(), kStepFigures.end());
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
