// How long jobs of a cluster wait and take under each policy.
#include <algorithm>

#include "planning/report/builtin_panels.h"
#include "planning/report/distribution_lines.h"
#include "planning/report/scales.h"

namespace ringwright::planning {
namespace {

double longest_mean(const JsonValue& result) {
  double longest = 0.0;
  for (const JsonValue& policy : result["policies"].list()) {
    longest = std::max(longest, policy["completion_s"]["mean"].number().value_or(0.0));
  }
  return longest;
}

Panel percentiles_of(const JsonValue& result, std::string_view times, Panel panel) {
  panel.columns = {text_column("policy")};
  for (const JsonValue& policy : result["policies"].list()) {
    texts(panel.columns.front()).push_back(policy["policy"].text());
  }
  for (const std::string_view rank : {"mean", "p50", "p90", "p95", "p99", "max"}) {
    PanelColumn column = number_column(std::string(rank), "h");
    for (const JsonValue& policy : result["policies"].list()) {
      numbers(column).push_back(policy[times][rank].number_or_unknown() / 3600.0);
    }
    panel.columns.push_back(std::move(column));
  }
  return panel;
}

// A logarithmic axis has no zero: a job that waits less than a second counts as waiting one.
std::vector<Panel> times_of_jobs(const JsonValue& result, std::string_view key, Panel frame) {
  DistributionLines lines("policy", {.name = "time", .unit = "min", .factor = 1.0 / 60.0, .least = 1.0 / 60.0});
  for (const JsonValue& policy : result["policies"].list()) lines.add(policy["policy"].text(), policy[key]);
  if (lines.empty()) return {};
  frame.x_scale = AxisScale::kLogarithmic;
  return {lines.panel(std::move(frame))};
}

}  // namespace

std::vector<Panel> cluster_means(const ResultInput& result) {
  const UnitScale scale = long_time_scale(longest_mean(result.json));
  const std::string unit(scale.unit);
  PanelColumn policy = text_column("policy"), waiting = number_column("waiting", unit),
              running = number_column("with GPUs", unit);
  for (const JsonValue& one : result.json["policies"].list()) {
    const double without = one["waiting_s"]["mean"].number_or_unknown();
    texts(policy).push_back(one["policy"].text());
    numbers(waiting).push_back(without * scale.factor);
    numbers(running).push_back((one["completion_s"]["mean"].number_or_unknown() - without) * scale.factor);
  }
  if (policy.size() == 0) return {};
  return {Panel{.id = "completion",
                .title = "From submission to end, mean",
                .sentence = "Time without GPUs and time with them; together the mean completion time of a job.",
                .chart = Chart::kBars,
                .columns = {policy, waiting, running}}};
}

std::vector<Panel> cluster_percentiles(const ResultInput& result) {
  return {percentiles_of(result.json, "waiting_s",
                         {.id = "waiting-percentiles",
                          .title = "Waiting times",
                          .sentence = "Time of a job without GPUs; percentiles by nearest rank over all jobs."}),
          percentiles_of(result.json, "completion_s",
                         {.id = "completion-percentiles",
                          .title = "Completion times",
                          .sentence = "From submission to end; percentiles by nearest rank over all jobs."})};
}

std::vector<Panel> cluster_distributions(const ResultInput& result) {
  std::vector<Panel> panels =
      times_of_jobs(result.json, "completion_quantiles_s",
                    {.id = "completion-times",
                     .title = "Distribution of the completion times",
                     .sentence = "The share of jobs that have ended after at most that time from their submission."});
  std::ranges::move(times_of_jobs(result.json, "waiting_quantiles_s",
                                  {.id = "waiting-times",
                                   .title = "Distribution of the waiting times",
                                   .sentence = "The share of jobs that were without GPUs for at most that time; less "
                                               "than a second counts as one."}),
                    std::back_inserter(panels));
  return panels;
}

}  // namespace ringwright::planning
