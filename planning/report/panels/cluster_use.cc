// How much of a cluster is in use under each policy: in all, and over time.
#include <algorithm>

#include "planning/report/builtin_panels.h"
#include "planning/report/scales.h"

namespace ringwright::planning {
namespace {

constexpr std::string_view kGpuTime = "% of GPU time";

std::string_view what_is_used(bool jobs) {
  return jobs ? "waiting jobs" : "GPUs in use";
}

// One line for each policy; an interval's mean stands at its middle.
std::vector<Panel> use_lines(const JsonValue& result, std::string_view key, Panel panel) {
  double longest = 0.0;
  for (const JsonValue& policy : result["policies"].list()) {
    longest = std::max(longest, policy["makespan_s"].number().value_or(0.0));
  }
  const UnitScale scale = long_time_scale(longest);
  const bool is_queue = key == "waiting_jobs";
  const double gpus = result["gpus"].number_or_unknown();
  PanelColumn series = text_column("policy"), time = number_column("time", std::string(scale.unit)),
              value = number_column(std::string(what_is_used(is_queue)), is_queue ? "" : "%");
  for (const JsonValue& policy : result["policies"].list()) {
    const JsonValue& use = policy["over_time"];
    const double interval = use["interval_s"].number_or_unknown();
    const std::vector<JsonValue>& means = use[key].list();
    const double end = policy["makespan_s"].number_or_unknown();
    for (std::size_t i = 0; i < means.size(); ++i) {
      const double from = static_cast<double>(i) * interval;
      texts(series).push_back(policy["policy"].text());
      numbers(time).push_back((from + std::min(from + interval, end)) / 2.0 * scale.factor);
      numbers(value).push_back(means[i].number_or_unknown() * (is_queue ? 1.0 : 100.0 / gpus));
    }
  }
  if (series.size() == 0) return {};
  panel.chart = Chart::kLines;
  panel.columns = {series, time, value};
  panel.wide = true;
  return {panel};
}

}  // namespace

std::vector<Panel> cluster_shares(const ResultInput& result) {
  const std::string unit(kGpuTime);
  PanelColumn policy = text_column("policy"), productive = number_column("productive", unit),
              lost = number_column("restarts and locality", unit),
              fragmented = number_column("free on hosts in use", unit), free = number_column("free hosts", unit),
              all_done = number_column("all jobs done after", "h"), blocked = number_column("of the time blocked", "%"),
              preempted = number_column("preempted", ""), resized = number_column("resized", ""),
              moved = number_column("moved", ""), peak = number_column("peak GPUs", "");
  for (const JsonValue& one : result.json["policies"].list()) {
    const double used = 100.0 * one["utilisation"].number_or_unknown();
    const double good = 100.0 * one["productive"].number_or_unknown();
    const double split = 100.0 * one["fragmentation"].number_or_unknown();
    texts(policy).push_back(one["policy"].text());
    numbers(productive).push_back(good);
    numbers(lost).push_back(std::max(0.0, used - good));
    numbers(fragmented).push_back(split);
    numbers(free).push_back(std::max(0.0, 100.0 - used - split));
    const double all = one["makespan_s"].number().value_or(0.0);
    numbers(all_done).push_back(all / 3600.0);
    numbers(blocked).push_back(all > 0.0 ? 100.0 * one["blocked_s"].number_or_unknown() / all : 0.0);
    numbers(preempted).push_back(one["preemptions"].number_or_unknown());
    numbers(resized).push_back(one["resizes"].number_or_unknown());
    numbers(moved).push_back(one["migrations"].number_or_unknown());
    numbers(peak).push_back(one["peak_gpus"].number_or_unknown());
  }
  if (policy.size() == 0) return {};
  return {Panel{
      .id = "gpu-time",
      .title = "Where the GPU time of the cluster goes",
      .sentence = "From the first submission to the last end. Restarts and locality: time with GPUs that is "
                  "not at full speed.",
      .chart = Chart::kBars,
      .columns = {policy, productive, lost, fragmented, free, blocked, preempted, resized, moved, peak, all_done}}};
}

std::vector<Panel> cluster_over_time(const ResultInput& result) {
  std::vector<Panel> panels = use_lines(result.json, "gpus_in_use",
                                        {.id = "use",
                                         .title = "GPUs in use over time",
                                         .sentence = "Means over equal intervals from the first submission."});
  std::ranges::move(use_lines(result.json, "waiting_jobs",
                              {.id = "queue",
                               .title = "Length of the queue over time",
                               .sentence = "Jobs without GPUs, stopped ones included; means over the same intervals."}),
                    std::back_inserter(panels));
  return panels;
}

}  // namespace ringwright::planning
