// What jobs that share GPUs get of them under each policy: the share of GPU time in which kernels run, and completion
// by class.
#include <algorithm>
#include <limits>

#include "planning/report/builtin_panels.h"

namespace ringwright::planning {
namespace {

constexpr double kSecondsPerHour = 3600.0;

// Unknown where the class has no jobs.
double hours(const JsonValue& times, std::string_view key) {
  if (!(times["max"].number().value_or(0.0) > 0.0)) return std::numeric_limits<double>::quiet_NaN();
  return times[key].number_or_unknown() / kSecondsPerHour;
}

}  // namespace

std::vector<Panel> cluster_sharing(const ResultInput& result) {
  const std::vector<JsonValue>& policies = result.json["policies"].list();
  const bool classes = std::ranges::any_of(
      policies, [](const JsonValue& one) { return one["opportunistic_s"]["max"].number().value_or(0.0) > 0.0; });
  if (!classes) return {};
  PanelColumn policy = text_column("policy"), guaranteed = number_column("guaranteed, mean", "h"),
              guaranteed_p90 = number_column("guaranteed, p90", "h"), other = number_column("opportunistic, mean", "h"),
              other_p90 = number_column("opportunistic, p90", "h"),
              kernels = number_column("kernels run", "% of GPU time");
  for (const JsonValue& one : policies) {
    texts(policy).push_back(one["policy"].text());
    numbers(guaranteed).push_back(hours(one["guaranteed_s"], "mean"));
    numbers(guaranteed_p90).push_back(hours(one["guaranteed_s"], "p90"));
    numbers(other).push_back(hours(one["opportunistic_s"], "mean"));
    numbers(other_p90).push_back(hours(one["opportunistic_s"], "p90"));
    numbers(kernels).push_back(100.0 * one["computing"].number_or_unknown());
  }
  return {Panel{.id = "sharing",
                .title = "Jobs that share GPUs, by class",
                .sentence = "From submission to end; opportunistic jobs take what the guaranteed one on a GPU leaves.",
                .chart = Chart::kTable,
                .columns = {policy, guaranteed, guaranteed_p90, other, other_p90, kernels}}};
}

}  // namespace ringwright::planning
