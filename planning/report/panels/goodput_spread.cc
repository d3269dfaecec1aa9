// How the lives of a job differ by chance: the distribution of the productive share over seeds.
#include "planning/report/builtin_panels.h"
#include "planning/report/distribution_lines.h"

namespace ringwright::planning {

std::vector<Panel> goodput_spread(const ResultInput& result) {
  DistributionLines lines("policy", {.name = "productive time", .unit = "%", .factor = 100.0});
  for (const JsonValue& policy : result.json["policies"].list()) {
    lines.add(policy["policy"].text(), policy["ettr_quantiles"]);
  }
  if (lines.empty()) return {};
  return {
      lines.panel({.id = "lives",
                   .title = "Productive time over the repetitions",
                   .sentence = "The share of repetitions, each with its own faults, whose productive time is at most "
                               "that large. A steep line is a job whose end can be planned."})};
}

}  // namespace ringwright::planning
