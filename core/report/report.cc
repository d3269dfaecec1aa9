#include "core/report/report.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/check.h"

namespace ringwright {
namespace {

// The smallest value that at least `share` of all values do not exceed (nearest rank).
Duration percentile(const std::vector<Duration>& sorted, double share) {
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

}  // namespace

StepTimes step_times(const std::vector<TimePoint>& iteration_end, int warmup) {
  const auto first = static_cast<std::size_t>(warmup);
  CHECK(first < iteration_end.size(), "no iteration is left to count after the warm-up");
  std::vector<Duration> lengths;
  for (std::size_t i = first; i < iteration_end.size(); ++i) {
    lengths.push_back(iteration_end[i] - (i == 0 ? TimePoint() : iteration_end[i - 1]));
  }
  std::ranges::sort(lengths);
  const TimePoint start = first == 0 ? TimePoint() : iteration_end[first - 1];
  const auto count = static_cast<std::int64_t>(lengths.size());
  const Duration whole = iteration_end.back() - start;
  return {.mean = Duration((whole.count() + count / 2) / count),
          .minimum = lengths.front(),
          .median = percentile(lengths, 0.5),
          .p99 = percentile(lengths, 0.99),
          .maximum = lengths.back(),
          .count = static_cast<int>(count)};
}

namespace {

double ours(const Report& report, PublishedQuantity quantity) {
  switch (quantity) {
    case PublishedQuantity::kStepTime: return to_seconds(report.step_time.mean);
    case PublishedQuantity::kModelFlopUtilisation: return report.model_flop_utilisation.value_or(0.0);
    case PublishedQuantity::kModelFlopRatePerGpu: return report.model_flop_rate_per_gpu.count();
    case PublishedQuantity::kTokensPerSecondPerGpu: return report.tokens_per_second_per_gpu;
  }
  return 0.0;
}

void rate(Report& report) {
  const double gpu_seconds = to_seconds(report.step_time.mean) * static_cast<double>(report.gpus);
  if (gpu_seconds <= 0.0) return;
  const StepFacts& facts = report.facts;
  report.tokens_per_second_per_gpu = static_cast<double>(facts.tokens_per_step) / gpu_seconds;
  report.model_flop_rate_per_gpu = FlopRate(facts.model_flops.count() / gpu_seconds);
  const double peak_work = facts.peak_flop_rate.count() * gpu_seconds;
  if (peak_work <= 0.0) return;
  if (facts.model_flops.count() > 0.0) report.model_flop_utilisation = facts.model_flops.count() / peak_work;
  if (facts.hardware_flops.count() > 0.0) report.hardware_flop_utilisation = facts.hardware_flops.count() / peak_work;
}

bool several_programs(const TaskGraph& graph) {
  return std::ranges::any_of(graph.program_of, [&](ProgramId program) { return program != graph.program_of.front(); });
}

}  // namespace

Evidence Report::evidence() const {
  if (facts.evidence.empty()) return Evidence::kAssumed;
  return std::ranges::max(facts.evidence, {}, &InputEvidence::level).level;
}

StepCost cost_of(const Report& report) {
  if (!report.facts.cost_rates) return {};
  const bool is_mean = report.facts.checkpoint && report.facts.checkpoint->every > 0;
  return cost_of({.time = is_mean ? report.facts.checkpoint->mean_step : report.step_time.mean,
                  .gpus = report.gpus,
                  .tokens = report.facts.tokens_per_step},
                 *report.facts.cost_rates);
}

double fill(const MemoryRow& row) { return row.capacity > Bytes() ? ratio(row.total, row.capacity) : 0.0; }

Report summarise(const ReportInputs& inputs, StepFacts facts) {
  Report report;
  report.facts = std::move(facts);
  report.gpus = inputs.graph.rank_count();
  report.messages = inputs.record.messages;
  report.step_time = step_times(inputs.record.iteration_end, report.facts.warmup_iterations);
  rate(report);

  const BreakdownInputs breakdown{.record = inputs.record, .graph = inputs.graph, .classes = inputs.classes,
                                  .step_time = report.step_time.mean,
                                  .data = report.facts.data ? report.facts.data->stall : Duration(),
                                  .outer = report.facts.outer ? report.facts.outer->added : Duration(),
                                  .counted_iterations = report.step_time.count};
  report.everywhere = break_down(breakdown);
  if (several_programs(inputs.graph)) report.slowest_stage = break_down_slowest(breakdown);
  for (std::size_t g = 0; g < report.facts.groups.size(); ++g) {
    const auto in_group = [&](RankId rank) { return report.facts.group_of_rank[rank.index()] == static_cast<int>(g); };
    report.groups.push_back(break_down_some(breakdown, in_group, report.facts.groups[g].name));
  }
  if (const auto stages = break_down_stages(breakdown); stages.size() > 1) {
    report.bubbles = stage_bubbles(stages, report.facts.held_at_peak, report.facts.weight_versions);
  }

  const std::vector<MemoryRow>& memory = report.facts.memory;
  if (!memory.empty()) {
    const auto fullest = std::ranges::max_element(memory, {}, fill);
    report.fullest_memory = static_cast<std::size_t>(fullest - memory.begin());
  }
  for (const PublishedFigure& figure : report.facts.published) {
    report.comparisons.push_back({.published = figure, .ours = ours(report, figure.quantity)});
  }
  return report;
}

}  // namespace ringwright
