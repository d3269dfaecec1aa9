// A cluster over days under each of several policies: waiting, completion times, utilisation, fragmentation.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "core/base/diagnostic.h"
#include "planning/jobs/cluster_file.h"
#include "planning/study/workers.h"

namespace ringwright::planning {

// Of all jobs, in seconds; percentiles by nearest rank.
struct Distribution {
  double mean = 0.0;
  double p50 = 0.0;
  double p90 = 0.0;
  double p95 = 0.0;
  double p99 = 0.0;
  double longest = 0.0;
};
[[nodiscard]] Distribution distribution_of(std::vector<double> values);

struct PolicyResult {
  std::string policy;
  Distribution waiting;                            // without GPUs
  Distribution completion;                         // from submission to end ("JCT")
  Distribution guaranteed;                         // of jobs that are not opportunistic; the others: `opportunistic`
  Distribution opportunistic;
  std::array<std::size_t, kLocalities> jobs_at{};  // by the locality of their last GPUs
  std::vector<double> waiting_quantiles;           // of all jobs, seconds (planning/study/quantiles.h)
  std::vector<double> completion_quantiles;
  std::vector<JobResult> jobs;                     // in the order of the plan
  ClusterTotals totals;
  UseOverTime use;
  double makespan = 0.0;  // from the first submission to the last end
  double capacity = 0.0;  // GPU-seconds of the cluster over it

  [[nodiscard]] double utilisation() const { return capacity > 0.0 ? totals.allocated / capacity : 0.0; }
  [[nodiscard]] double computing() const { return capacity > 0.0 ? totals.computing / capacity : 0.0; }
  [[nodiscard]] double productive() const { return capacity > 0.0 ? totals.productive / capacity : 0.0; }
  [[nodiscard]] double lost() const { return capacity > 0.0 ? totals.lost / capacity : 0.0; }
  [[nodiscard]] double down() const { return capacity > 0.0 ? totals.down / capacity : 0.0; }
  [[nodiscard]] double fragmentation() const { return capacity > 0.0 ? totals.fragmented / capacity : 0.0; }
};

struct ClusterStudy {
  std::string name;
  ClusterShape shape;
  std::size_t jobs = 0;
  std::size_t too_large = 0;
  std::size_t without_gpus = 0;
  std::size_t without_times = 0;
  SharingKind sharing = SharingKind::kParts;
  std::vector<PolicyResult> policies;
};

// Fails where `speed.machine` gives no speeds.
[[nodiscard]] Result<ClusterStudy> study_cluster(const ClusterPlan& plan, const Workers& workers = {});

[[nodiscard]] std::string render_cluster_text(const ClusterStudy& study);
// Schema "ringwright.cluster/1" (docs/jobs.md).
[[nodiscard]] std::string render_cluster_json(const ClusterStudy& study);
// A row for each policy and job. As a log of the form csv it has the same jobs.
[[nodiscard]] std::string render_cluster_csv(const ClusterPlan& plan, const ClusterStudy& study);

}  // namespace ringwright::planning
