// Results of a cluster over days, as text and as JSON.
#include <vector>

#include <fmt/format.h>

#include "core/base/json_text.h"
#include "core/base/text.h"
#include "core/report/text_table.h"
#include "planning/jobs/cluster_study.h"
#include "planning/study/quantiles.h"

namespace ringwright::planning {
namespace {

std::string time_text(double seconds) {
  if (seconds < 120.0) return fmt::format("{:.0f} s", seconds);
  if (seconds < 7200.0) return fmt::format("{:.1f} min", seconds / 60.0);
  return seconds < 48.0 * 3600.0 ? fmt::format("{:.1f} h", seconds / 3600.0)
                                 : fmt::format("{:.1f} days", seconds / 86'400.0);
}

// "1 GPU", "2,048 GPUs"
std::string number_of(long long number, std::string_view what) {
  return fmt::format("{} {}{}", with_commas(number), what, number == 1 ? "" : "s");
}

std::string share_text(double share) {
  return fmt::format("{:.1f} %", share * 100.0);
}

std::string table_text(std::vector<std::vector<std::string>> rows) {
  std::vector<Align> columns(rows.front().size(), Align::kRight);
  columns.front() = Align::kLeft;
  TextTable table(columns);
  for (std::vector<std::string>& row : rows) table.add_row(std::move(row));
  std::string text;
  for (const std::string& line : table.lines()) text += "  " + line + "\n";
  return text;
}

std::string times_text(const ClusterStudy& study) {
  std::vector<std::vector<std::string>> rows{
      {"policy", "mean wait", "p50", "p90", "p99", "mean completion", "p50", "p90", "p99", "all done"}};
  for (const PolicyResult& result : study.policies) {
    rows.push_back({result.policy, time_text(result.waiting.mean), time_text(result.waiting.p50),
                    time_text(result.waiting.p90), time_text(result.waiting.p99), time_text(result.completion.mean),
                    time_text(result.completion.p50), time_text(result.completion.p90),
                    time_text(result.completion.p99), time_text(result.makespan)});
  }
  return table_text(std::move(rows));
}

std::string use_text(const ClusterStudy& study) {
  std::vector<std::vector<std::string>> rows{{"policy", "in use", "productive", "fragmented", "blocked", "peak GPUs",
                                              "preempted", "resized", "moved", "jobs in a host", "in a unit",
                                              "across units"}};
  for (const PolicyResult& result : study.policies) {
    const ClusterTotals& totals = result.totals;
    rows.push_back(
        {result.policy, share_text(result.utilisation()), share_text(result.productive()),
         share_text(result.fragmentation()), share_text(result.makespan > 0.0 ? totals.blocked / result.makespan : 0.0),
         with_commas(totals.peak_gpus), with_commas(static_cast<long long>(totals.preemptions)),
         with_commas(static_cast<long long>(totals.resizes)), with_commas(static_cast<long long>(totals.migrations)),
         with_commas(static_cast<long long>(result.jobs_at[0])), with_commas(static_cast<long long>(result.jobs_at[1])),
         with_commas(static_cast<long long>(result.jobs_at[2]))});
  }
  return table_text(std::move(rows));
}

// Only where jobs disturb each other on a GPU; classes only where some jobs are opportunistic.
std::string sharing_text(const ClusterStudy& study) {
  if (study.sharing == SharingKind::kParts) return "";
  std::vector<std::vector<std::string>> rows{{"policy", "kernels run"}};
  const bool classes = std::ranges::any_of(
      study.policies, [](const PolicyResult& result) { return result.opportunistic.longest > 0.0; });
  if (classes) rows.front().insert(rows.front().end(), {"guaranteed: completion", "p90", "opportunistic", "p90"});
  for (const PolicyResult& result : study.policies) {
    rows.push_back({result.policy, share_text(result.computing())});
    if (!classes) continue;
    for (const Distribution* const times : {&result.guaranteed, &result.opportunistic}) {
      const bool none = times->longest <= 0.0;  // jobs of this class
      rows.back().push_back(none ? "-" : time_text(times->mean));
      rows.back().push_back(none ? "-" : time_text(times->p90));
    }
  }
  return "\n" + table_text(std::move(rows));
}

// Only where hosts fail.
std::string failures_text(const ClusterStudy& study) {
  std::vector<std::vector<std::string>> rows{{"policy", "hosts failed", "jobs stopped", "work lost", "GPUs down"}};
  std::uint64_t failures = 0;
  for (const PolicyResult& result : study.policies) {
    const ClusterTotals& totals = result.totals;
    failures += totals.host_failures;
    rows.push_back({result.policy, with_commas(static_cast<long long>(totals.host_failures)),
                    with_commas(static_cast<long long>(totals.stopped_by_failures)), share_text(result.lost()),
                    share_text(result.down())});
  }
  return failures > 0 ? "\n" + table_text(std::move(rows)) : "";
}

std::string json_distribution(const Distribution& times) {
  return fmt::format("{{\"mean\": {}, \"p50\": {}, \"p90\": {}, \"p95\": {}, \"p99\": {}, \"max\": {}}}", times.mean,
                     times.p50, times.p90, times.p95, times.p99, times.longest);
}

std::string json_use(const UseOverTime& use) {
  return fmt::format("{{\"interval_s\": {}, \"gpus_in_use\": {}, \"waiting_jobs\": {}}}", use.interval(),
                     json_numbers(use.gpus()), json_numbers(use.waiting()));
}

std::string json_policy(const PolicyResult& result) {
  const ClusterTotals& totals = result.totals;
  return fmt::format(
      "{{\"policy\": {}, \"waiting_s\": {},\n     \"completion_s\": {},\n     \"makespan_s\": {}, \"utilisation\": {}, "
      "\"computing\": {}, \"productive\": {}, \"fragmentation\": {}, \"blocked_s\": {}, \"peak_gpus\": {}, "
      "\"preemptions\": {}, \"resizes\": {}, \"migrations\": {}, \"decisions\": {}, \"jobs_in_host\": {}, "
      "\"jobs_in_unit\": {}, \"jobs_over_units\": {},\n     "
      "\"host_failures\": {}, \"stopped_by_failures\": {}, \"lost\": {}, \"down\": {},\n     "
      "\"guaranteed_s\": {}, \"opportunistic_s\": {},\n     "
      "\"waiting_quantiles_s\": {},\n     \"completion_quantiles_s\": {},\n     \"over_time\": {}}}",
      json_text(result.policy), json_distribution(result.waiting), json_distribution(result.completion),
      result.makespan, result.utilisation(), result.computing(), result.productive(), result.fragmentation(),
      totals.blocked, totals.peak_gpus, totals.preemptions, totals.resizes, totals.migrations, totals.events,
      result.jobs_at[0], result.jobs_at[1], result.jobs_at[2], totals.host_failures, totals.stopped_by_failures,
      result.lost(), result.down(), json_distribution(result.guaranteed),
      json_distribution(result.opportunistic), json_numbers(result.waiting_quantiles),
      json_numbers(result.completion_quantiles), json_use(result.use));
}

}  // namespace

std::string render_cluster_text(const ClusterStudy& study) {
  std::string text =
      fmt::format("{}: {} on {} in {}\n", study.name, number_of(static_cast<long long>(study.jobs), "job"),
                  number_of(study.shape.gpus(), "GPU"), number_of(study.shape.hosts, "host"));
  if (study.too_large + study.without_gpus + study.without_times > 0) {
    text += fmt::format(
        "  left out of the log: {} of more GPUs than the cluster has, {} without GPUs, {} without times\n",
        number_of(static_cast<long long>(study.too_large), "job"), study.without_gpus, study.without_times);
  }
  return text + "\n" + times_text(study) + "\n" + use_text(study) + sharing_text(study) + failures_text(study);
}

std::string render_cluster_json(const ClusterStudy& study) {
  std::vector<std::string> policies;
  for (const PolicyResult& result : study.policies) policies.push_back(json_policy(result));
  return fmt::format(
      "{{\n  \"schema\": \"ringwright.cluster/1\",\n  \"tool\": {{\"name\": \"ringwright\", \"version\": {}}},\n"
      "  \"name\": {}, \"jobs\": {}, \"gpus\": {}, \"hosts\": {}, \"left_out\": {{\"too_large\": {}, "
      "\"without_gpus\": {}, \"without_times\": {}}},\n  \"policies\": [\n    {}\n  ]\n}}\n",
      json_text(RINGWRIGHT_VERSION), json_text(study.name), study.jobs, study.shape.gpus(), study.shape.hosts,
      study.too_large, study.without_gpus, study.without_times, join(policies, ",\n    "));
}

}  // namespace ringwright::planning
