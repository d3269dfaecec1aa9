#include "traces/kineto/kineto_file.h"

#include <algorithm>
#include <utility>

#include "traces/calls/call_summary.h"
#include "traces/kineto/breakdown.h"
#include "traces/kineto/kineto_summary.h"
#include "traces/kineto/kineto_trace.h"

namespace ringwright::traces {
namespace {

constexpr std::size_t kStepsListed = 20;

SummaryTable shares_table(const KinetoBreakdown& breakdown) {
  SummaryTable table{.title = "time of the GPU",
                     .columns = {"of", "span", "computing", "communication", "exposed", "copies alone", "idle"},
                     .rows = {}};
  const auto add = [&](const TimeShares& shares) {
    table.rows.push_back({shares.name, shares.span, shares.computing, shares.communicating, shares.exposed,
                          shares.copying, shares.idle});
  };
  add(breakdown.whole);
  for (std::size_t i = 0; i < std::min(kStepsListed, breakdown.steps.size()); ++i) add(breakdown.steps[i]);
  return table;
}

SummaryTable families_table(const KinetoBreakdown& breakdown) {
  SummaryTable table{.title = "kernels", .columns = {"family", "count", "time"}, .rows = {}};
  for (const FamilyTime& family : breakdown.families) {
    table.rows.push_back({std::string(to_string(family.family)), static_cast<std::int64_t>(family.count), family.time});
  }
  if (breakdown.copy_count > 0) {
    table.rows.push_back({std::string("copies"), static_cast<std::int64_t>(breakdown.copy_count), breakdown.copies});
  }
  if (breakdown.memset_count > 0) {
    table.rows.push_back(
        {std::string("memory sets"), static_cast<std::int64_t>(breakdown.memset_count), breakdown.memsets});
  }
  return table;
}

}  // namespace

bool looks_like_kineto(std::string_view beginning) {
  const auto has = [&](std::string_view word) { return beginning.find(word) != std::string_view::npos; };
  // The events may come after a long head.
  return has("\"traceEvents\"") || (has("\"schemaVersion\"") && has("\"deviceProperties\"")) ||
         (beginning.starts_with('[') && has("\"ph\"") && has("\"cat\""));
}

FileSummary summarise_kineto_file(const std::string& path) {
  FileSummary summary;
  auto reading = read_kineto(path);
  if (!reading) {
    summary.problems = std::move(reading.error());
    return summary;
  }
  const KinetoTrace& trace = reading->trace;
  const KinetoBreakdown breakdown = break_down(trace);
  summary.problems = std::move(reading->warnings);
  const auto fact = [&](std::string name, SummaryValue value) {
    summary.facts.push_back({.name = std::move(name), .value = std::move(value)});
  };
  if (trace.calls.rank >= 0) fact("rank", std::int64_t{trace.calls.rank});
  if (trace.world_size > 0) fact("ranks of the job", std::int64_t{trace.world_size});
  if (!trace.gpu.empty()) fact("gpu", trace.gpu);
  if (!trace.nccl_version.empty()) fact("NCCL", trace.nccl_version);
  fact("events", static_cast<std::int64_t>(trace.events));
  fact("work of GPUs", static_cast<std::int64_t>(trace.activities.size()));
  fact("devices", static_cast<std::int64_t>(breakdown.devices));
  fact("streams", static_cast<std::int64_t>(breakdown.streams));
  fact("communication kernels of NCCL", static_cast<std::int64_t>(trace.calls.calls.size()));
  fact("operators with shapes", static_cast<std::int64_t>(trace.operators.size()));
  summary.tables = {shares_table(breakdown), families_table(breakdown), summarise_calls(join_calls({trace.calls}))};
  return summary;
}

FileSummary summarise_kineto_job(const std::vector<std::string>& paths) {
  FileSummary summary;
  auto job = summarise_kineto(paths);
  if (!job) {
    summary.problems = std::move(job.error());
    return summary;
  }
  summary.facts = {{.name = "traces", .value = static_cast<std::int64_t>(job->ranks.size())},
                   {.name = "calls", .value = static_cast<std::int64_t>(job->joined.calls.size())},
                   {.name = "calls of one rank only", .value = static_cast<std::int64_t>(job->joined.alone)},
                   {.name = "records that contradict", .value = static_cast<std::int64_t>(job->joined.contradicting)}};
  SummaryTable times{.title = "time of the GPUs",
                     .columns = {"rank", "span", "computing", "communication", "exposed", "copies alone", "idle"},
                     .rows = {}};
  for (std::size_t i = 0; i < job->ranks.size(); ++i) {
    const TimeShares& shares = job->breakdowns[i].whole;
    times.rows.push_back({std::int64_t{job->ranks[i].calls.rank}, shares.span, shares.computing, shares.communicating,
                          shares.exposed, shares.copying, shares.idle});
  }
  summary.tables = {std::move(times), summarise_calls(job->joined), summarise_lateness(job->joined)};
  return summary;
}

}  // namespace ringwright::traces
