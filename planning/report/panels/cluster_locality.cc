// Where jobs of a cluster run: in one host, in one unit, or over units.
#include "planning/report/builtin_panels.h"

namespace ringwright::planning {

std::vector<Panel> cluster_locality(const ResultInput& result) {
  PanelColumn policy = text_column("policy"), host = number_column("in one host", "jobs"),
              unit = number_column("in one unit", "jobs"), fabric = number_column("over units", "jobs");
  for (const JsonValue& one : result.json["policies"].list()) {
    texts(policy).push_back(one["policy"].text());
    numbers(host).push_back(one["jobs_in_host"].number_or_unknown());
    numbers(unit).push_back(one["jobs_in_unit"].number_or_unknown());
    numbers(fabric).push_back(one["jobs_over_units"].number_or_unknown());
  }
  if (policy.size() == 0) return {};
  return {Panel{.id = "locality",
                .title = "Where the jobs run",
                .sentence = "Jobs by the locality of the GPUs that they had last. A unit is the hosts on the same leaf "
                            "switches.",
                .chart = Chart::kBars,
                .columns = {policy, host, unit, fabric}}};
}

}  // namespace ringwright::planning
