#include "validation/training/step_prediction.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "configs/simulation/simulate.h"

namespace ringwright::validation {
namespace {

// The first message of the output, on one line.
std::string first_error(const Diagnostics& diagnostics) {
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    if (diagnostic.severity == Severity::kError) return diagnostic.message;
  }
  return "refused without a reason";
}

double gib(Bytes bytes) {
  return static_cast<double>(bytes.count()) / (1024.0 * 1024.0 * 1024.0);
}

void add_memory(const Report& report, StepPrediction& result) {
  for (const MemoryRow& row : report.facts.memory) {
    double overhead = 0.0;
    double fragmentation = 0.0;
    for (const MemoryItem& item : row.items) {
      if (item.name == "CUDA context" || item.name == "communicators") overhead += gib(item.size);
      if (item.name == "fragmentation") fragmentation += gib(item.size);
    }
    const double total = gib(row.total);
    const double by_meaning[3] = {total - overhead - fragmentation, total - overhead, total};
    for (std::size_t i = 0; i < 3; ++i) result.gib[i] = std::max(result.gib[i], by_meaning[i]);
    result.fits = result.fits && row.fits();
  }
  if (result.fits) return;
  const MemoryRow& fullest = *std::ranges::max_element(
      report.facts.memory, {}, [](const MemoryRow& row) { return std::pair(!row.fits(), row.total.count()); });
  result.shortage =
      fullest.total > fullest.capacity
          ? fmt::format("stage {} needs {} of {}", fullest.stage, to_string(fullest.total), to_string(fullest.capacity))
          : fmt::format("stage {} has no free block of {} for its largest weight", fullest.stage,
                        to_string(fullest.largest_weight));
}

void add_terms(const Report& report, StepPrediction& result) {
  const TimeBreakdown& all = report.everywhere;
  result.terms.push_back({.name = "compute", .seconds = to_seconds(all.computing)});
  for (const DimensionTime& dimension : all.dimensions) {
    result.terms.push_back({.name = dimension.name, .seconds = to_seconds(dimension.exposed)});
  }
  result.terms.push_back({.name = "idle", .seconds = to_seconds(all.idle)});
  const TimeBreakdown& slowest = report.slowest_stage ? *report.slowest_stage : all;
  result.bottleneck_compute = to_seconds(slowest.computing);
}

}  // namespace

StepPrediction predict_step(const StepScenario& step, KnownMachines& machines) {
  StepPrediction result;
  const auto scenario =
      configs::load_scenario_text(step.name, step.yaml, {.overrides = step.overrides, .known = &machines.files});
  if (!scenario) {
    result.reason = first_error(scenario.error());
    return result;
  }
  const auto outcome =
      configs::simulate(*scenario, configs::FoldMode::kFold, {.overheads = machines.overheads.of(*scenario)});
  if (!outcome) {
    result.reason = first_error(outcome.error());
    return result;
  }
  if (!outcome->report) {
    result.reason = "the step never ends";
    return result;
  }
  const Report& report = *outcome->report;
  result.kind = step_kind_of(*scenario);
  result.seconds = to_seconds(report.step_time.mean);
  result.tokens = static_cast<double>(report.facts.tokens_per_step);
  result.model_flops = report.facts.model_flops.count();
  result.hardware_flops = report.facts.hardware_flops.count();
  for (const FlopRate peak : scenario->cluster.gpu.peak) {
    result.peak_flop_rate = std::max(result.peak_flop_rate, peak.count() * static_cast<double>(report.gpus));
  }
  add_memory(report, result);
  add_terms(report, result);
  return result;
}

StepPrediction predict_by_formulas(const StepScenario& step, KnownMachines& machines) {
  StepScenario formulas = step;
  for (const char* setting : {"collectives.model=closed_form", "simulate.network=alpha_beta"}) {
    formulas.overrides.emplace_back(setting);
  }
  return predict_step(formulas, machines);
}

}  // namespace ringwright::validation
