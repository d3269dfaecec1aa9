// A cluster over days: jobs arrive, wait, run, are stopped and moved, by a scheduling policy.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "planning/jobs/cluster_job.h"
#include "planning/jobs/host_failures.h"
#include "planning/jobs/job_speed.h"
#include "planning/jobs/scheduling_policy.h"
#include "planning/jobs/shared_speed.h"
#include "planning/jobs/use_over_time.h"

namespace ringwright::planning {

struct SchedulerSettings {
  double round = 60.0;        // seconds between decisions of policies that act in rounds
  double relax_after = -1.0;  // seconds of waiting after which a job takes GPUs anywhere; negative: never
  bool backfill = true;       // jobs that fit start before larger ones that come first
  bool migrate = false;       // running jobs move to a better place where that ends them earlier
  double restart = 30.0;      // seconds without progress after each start but the first (checkpoint, restart)
  double reconfigure = 0.0;   // the same after every start: optical switches connect the hosts of the job
};

struct JobResult {
  double first_start = 0.0;
  double end = 0.0;
  double waited = 0.0;   // without GPUs
  double running = 0.0;  // with GPUs
  int starts = 0;
  Locality last = Locality::kHost;
};

struct ClusterTotals {
  std::uint64_t preemptions = 0;  // times that jobs started again on other GPUs, or later; resizes included
  std::uint64_t resizes = 0;
  std::uint64_t migrations = 0;
  double allocated = 0.0;    // GPU-seconds of GPUs that jobs had
  double computing = 0.0;    // GPU-seconds in which kernels run, by the demands of jobs
  double productive = 0.0;   // of those that jobs had at full speed: without restarts, and what a worse locality costs
  double fragmented = 0.0;   // GPU-seconds of free GPUs on hosts in use
  double blocked = 0.0;      // seconds in which a job waited that as many GPUs as were free would have sufficed
  double down = 0.0;         // GPU-seconds of hosts that failed, until their repair
  double lost = 0.0;         // productive ones that jobs repeat since they had not saved
  std::uint64_t host_failures = 0;
  std::uint64_t stopped_by_failures = 0;  // jobs; among the preemptions
  int peak_gpus = 0;         // that jobs had at once
  std::uint64_t events = 0;  // decisions of the policy
};

struct ClusterRun {
  std::vector<JobResult> jobs;  // in the order of the input
  ClusterTotals totals;
  UseOverTime use;
  double first_submit = 0.0;
  double last_end = 0.0;
};

// `jobs` in the order of submission, each with no more GPUs than the cluster has.
struct ClusterInputs {
  const ClusterShape& shape;
  const std::vector<ClusterJob>& jobs;
  const JobSpeed& speed;
  const SchedulingPolicy& policy;
  SchedulerSettings settings;
  SharingKind sharing = SharingKind::kParts;  // of jobs on one GPU
  FailureSettings failures;
};
[[nodiscard]] ClusterRun run_cluster(const ClusterInputs& inputs);

}  // namespace ringwright::planning
