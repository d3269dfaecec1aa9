// The steps of several jobs on one machine: alone and together with the others, for each placement.
#include <algorithm>
#include <limits>

#include "planning/report/builtin_panels.h"
#include "planning/report/scales.h"

namespace ringwright::planning {
namespace {

double job_seconds(const JsonValue& picoseconds) {
  return picoseconds.number_or_unknown() * 1e-12;
}

std::string job_label(const JsonValue& arrangement, const JsonValue& job, bool several) {
  return several ? job["name"].text() + ", " + arrangement["placement"].text() : job["name"].text();
}

}  // namespace

std::vector<Panel> jobs_slowdowns(const ResultInput& result) {
  const std::vector<JsonValue>& arrangements = result.json["arrangements"].list();
  PanelColumn name = text_column("job"), slowdown = number_column("slowdown", ""),
              alone = number_column("step alone", "ms"), together = number_column("step together", "ms"),
              longest = number_column("longest step together", "ms"), steps = number_column("steps", ""),
              gpus = number_column("GPUs", ""), hosts = number_column("hosts", ""), units = number_column("units", ""),
              placement = text_column("placement"), reason = text_column("cannot be simulated");
  for (const JsonValue& arrangement : arrangements) {
    for (const JsonValue& job : arrangement["jobs"].list()) {
      texts(name).push_back(job_label(arrangement, job, arrangements.size() > 1));
      numbers(slowdown).push_back(job["slowdown"].number_or_unknown());
      numbers(alone).push_back(1e3 * job_seconds(job["alone"]["step_ps"]));
      numbers(together).push_back(1e3 * job_seconds(job["together"]["step_ps"]));
      numbers(longest).push_back(1e3 * job_seconds(job["together"]["longest_step_ps"]));
      numbers(steps).push_back(job["together"]["steps"].number_or_unknown());
      numbers(gpus).push_back(job["gpus"].number_or_unknown());
      numbers(hosts).push_back(job["hosts"].number_or_unknown());
      numbers(units).push_back(job["units"].number_or_unknown());
      texts(placement).push_back(job["placement"].text());
      texts(reason).emplace_back();
    }
    if (!arrangement["jobs"].list().empty()) continue;
    texts(name).push_back(arrangement["placement"].text());
    for (PanelColumn* column : {&slowdown, &alone, &together, &longest, &steps, &gpus, &hosts, &units}) {
      numbers(*column).push_back(std::numeric_limits<double>::quiet_NaN());
    }
    texts(placement).push_back(arrangement["placement"].text());
    texts(reason).push_back(arrangement["reason"].text());
  }
  if (name.size() == 0) return {};
  return {Panel{.id = "slowdowns",
                .title = "How much each job is slowed down",
                .sentence = "The step together with the other jobs, divided by the step alone on the same GPUs: 1 is "
                            "no interference.",
                .chart = Chart::kBars,
                .columns = {name, slowdown, alone, together, longest, steps, gpus, hosts, units, placement, reason},
                .wide = true}};
}

std::vector<Panel> jobs_parts(const ResultInput& result) {
  const std::vector<JsonValue>& arrangements = result.json["arrangements"].list();
  double longest = 0.0;
  for (const JsonValue& arrangement : arrangements) {
    for (const JsonValue& job : arrangement["jobs"].list()) {
      longest = std::max({longest, job_seconds(job["alone"]["step_ps"]), job_seconds(job["together"]["step_ps"])});
    }
  }
  const UnitScale scale = time_scale(longest);
  const std::string unit(scale.unit);
  PanelColumn name = text_column("job"), computing = number_column("computing", unit),
              exposed = number_column("exposed communication", unit),
              idle = number_column("waiting for other ranks", unit);
  for (const JsonValue& arrangement : arrangements) {
    for (const JsonValue& job : arrangement["jobs"].list()) {
      for (const std::string_view when : {"alone", "together"}) {
        texts(name).push_back(job_label(arrangement, job, arrangements.size() > 1) + ": " + std::string(when));
        numbers(computing).push_back(job_seconds(job[when]["computing_ps"]) * scale.factor);
        numbers(exposed).push_back(job_seconds(job[when]["exposed_ps"]) * scale.factor);
        numbers(idle).push_back(job_seconds(job[when]["idle_ps"]) * scale.factor);
      }
    }
  }
  if (name.size() == 0) return {};
  return {Panel{.id = "job-parts",
                .title = "Where the step of each job goes",
                .sentence = "Means over the GPUs of a job. What the other jobs cost appears as exposed communication "
                            "and waiting.",
                .chart = Chart::kBars,
                .columns = {name, computing, exposed, idle},
                .wide = true}};
}

}  // namespace ringwright::planning
