#include "validation/training_cases.h"

#include <algorithm>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "configs/simulate.h"
#include "validation/training_scenario.h"

namespace ringwright::validation {
namespace {

// What one scenario gives; several rows may share it.
struct Prediction {
  std::string reason;
  double seconds = 0.0;
  double tokens = 0.0;
  double model_flops = 0.0;
  double hardware_flops = 0.0;
  double peak_flop_rate = 0.0;  // of all GPUs
  double bottleneck_compute = 0.0;
  std::vector<TermSeconds> terms;
  double gib[3] = {0.0, 0.0, 0.0};  // by MemoryMeaning, of the fullest stage
};

// What a user would see first, on one line.
std::string first_error(const Diagnostics& diagnostics) {
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    if (diagnostic.severity == Severity::kError) return diagnostic.message;
  }
  return "refused without a reason";
}

double gib(Bytes bytes) { return static_cast<double>(bytes.count()) / (1024.0 * 1024.0 * 1024.0); }

void add_memory(const Report& report, Prediction& result) {
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
  }
}

void add_terms(const Report& report, Prediction& result) {
  const TimeBreakdown& all = report.everywhere;
  result.terms.push_back({.name = "compute", .seconds = to_seconds(all.computing)});
  for (const DimensionTime& dimension : all.dimensions) {
    result.terms.push_back({.name = dimension.name, .seconds = to_seconds(dimension.exposed)});
  }
  result.terms.push_back({.name = "idle", .seconds = to_seconds(all.idle)});
  const TimeBreakdown& slowest = report.slowest_stage ? *report.slowest_stage : all;
  result.bottleneck_compute = to_seconds(slowest.computing);
}

Prediction predict(const std::string& name, const std::string& yaml, const CaseOptions& options) {
  Prediction result;
  const auto scenario = configs::load_scenario_text(name, yaml, {.overrides = options.overrides});
  if (!scenario) {
    result.reason = first_error(scenario.error());
    return result;
  }
  const auto simulation = configs::Simulation::assemble(*scenario, configs::FoldMode::kFold);
  if (!simulation) {
    result.reason = first_error(simulation.error());
    return result;
  }
  const configs::Outcome outcome = configs::simulate(*scenario, **simulation);
  if (!outcome.report) {
    result.reason = "the step never ends";
    return result;
  }
  const Report& report = *outcome.report;
  result.seconds = to_seconds(report.step_time.mean);
  result.tokens = static_cast<double>(report.facts.tokens_per_step);
  result.model_flops = report.facts.model_flops.count();
  result.hardware_flops = report.facts.hardware_flops.count();
  result.peak_flop_rate = report.facts.peak_flop_rate.count() * static_cast<double>(report.gpus);
  add_memory(report, result);
  add_terms(report, result);
  return result;
}

// A row's seconds of a step: as measured, or from the rate that it gives.
void take_measured(const Prediction& prediction, const SourceRule* source, PlayedRow& played) {
  const TrainingRow& row = played.row;
  const auto gpus = static_cast<double>(row.gpus.value_or(1));
  if (row.step_seconds.value_or(0.0) > 0.0) {
    played.measured_as = MeasuredAs::kStepTime;
    played.measured_seconds = *row.step_seconds;
  } else if (row.tokens_per_gpu.value_or(0.0) > 0.0) {
    played.measured_as = MeasuredAs::kTokens;
    played.measured_seconds = prediction.tokens / (*row.tokens_per_gpu * gpus);
  } else if (row.tflops_per_gpu.value_or(0.0) > 0.0) {
    const bool hardware = source != nullptr && source->flops_with_recompute;
    played.measured_as = MeasuredAs::kFlops;
    played.measured_seconds =
        (hardware ? prediction.hardware_flops : prediction.model_flops) / (*row.tflops_per_gpu * 1e12 * gpus);
  } else {
    played.reason = "the source gives neither a time nor a rate";
  }
  if (source != nullptr && row.memory_gib) {
    played.measured_gib = *row.memory_gib * source->gib_per_unit;
    played.predicted_gib = prediction.gib[static_cast<std::size_t>(source->memory)];
  }
}

void take(const Prediction& prediction, const TrainingConventions& conventions, PlayedRow& played) {
  if (!prediction.reason.empty()) {
    played.reason = prediction.reason;
    return;
  }
  played.predicted_seconds = prediction.seconds;
  played.tokens = prediction.tokens;
  played.terms = prediction.terms;
  played.bottleneck_compute = prediction.bottleneck_compute;
  take_measured(prediction, conventions.find_source(played.source), played);
  // Batch, GPUs and time of such a row cannot all be right; there is nothing to hold a prediction against.
  if (played.played() && prediction.model_flops > prediction.peak_flop_rate * played.measured_seconds) {
    played.reason = "the source contradicts itself: its batch in its time is more than the GPUs' peak";
  }
}

}  // namespace

std::string_view to_string(MeasuredAs quantity) {
  switch (quantity) {
    case MeasuredAs::kNothing: return "nothing";
    case MeasuredAs::kStepTime: return "step time";
    case MeasuredAs::kTokens: return "tokens/s";
    case MeasuredAs::kFlops: return "FLOP/s";
  }
  return "";
}

std::vector<PlayedRow> play_rows(const std::vector<TrainingRow>& rows, const TrainingConventions& conventions,
                                 const CaseOptions& options) {
  std::vector<PlayedRow> result;
  std::vector<std::size_t> scenario_of;           // by result
  std::vector<std::string> names, scenarios;      // each once
  std::map<std::string, std::size_t> known;
  constexpr auto kNone = static_cast<std::size_t>(-1);
  for (const TrainingRow& row : rows) {
    if (!row.scored()) continue;
    PlayedRow& played = result.emplace_back(PlayedRow{.row = row, .source = row.source()});
    scenario_of.push_back(kNone);
    auto scenario = make_scenario(row, conventions);
    if (!scenario) {
      played.reason = scenario.error();
      continue;
    }
    played.assumed = std::move(scenario->assumed);
    const auto [entry, is_new] = known.emplace(scenario->yaml, scenarios.size());
    if (is_new) {
      scenarios.push_back(scenario->yaml);
      names.push_back(fmt::format("{}:{}", row.place.file, row.place.line));
    }
    scenario_of.back() = entry->second;
  }
  std::vector<Prediction> predictions(scenarios.size());
#pragma omp parallel for schedule(dynamic)
  for (std::size_t i = 0; i < scenarios.size(); ++i) predictions[i] = predict(names[i], scenarios[i], options);
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (scenario_of[i] != kNone) take(predictions[scenario_of[i]], conventions, result[i]);
  }
  return result;
}

}  // namespace ringwright::validation
