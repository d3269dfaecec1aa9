// A file that describes a cluster over days: its hosts, its jobs, how fast they run, and what schedules them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "planning/jobs/arrivals.h"
#include "planning/jobs/cluster_run.h"

namespace ringwright::planning {

struct ClusterPlan {
  std::string name;
  ClusterShape shape;
  std::vector<ClusterJob> jobs;
  bool from_log = false;          // where they come from
  std::size_t too_large = 0;      // jobs of a log that the cluster cannot hold
  std::size_t without_gpus = 0;   // and those that ask for none, or have no times
  std::size_t without_times = 0;
  GivenSpeed speed;
  std::string machine;  // a scenario with `jobs`, whose simulated steps give the speeds; empty: `speed`
  SchedulerSettings scheduler;
  std::vector<std::string> policies;  // known ones
  bool shares_gpus = true;            // parts of GPUs are packed; false: each has a GPU
  SharingKind sharing = SharingKind::kParts;
  FailureSettings failures;
  bool has_usual_demand = false;  // some job asks for no part of a GPU, so that its demand is that of `sharing`
  bool draws_classes = false;     // which jobs are opportunistic
  Diagnostics warnings;           // keys without effect among them
};

[[nodiscard]] Result<ClusterPlan> load_cluster_plan(const std::string& path, const std::vector<std::string>& settings);
[[nodiscard]] Result<ClusterPlan> load_cluster_plan_text(const std::string& name, std::string_view text);

}  // namespace ringwright::planning
