// Where the jobs of a cluster come from: a log, or a generator.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "planning/jobs/cluster_job.h"
#include "traces/cluster_logs/job_log.h"

namespace ringwright::planning {

// Submissions are a Poisson process whose rate follows the hour of the day: 1 + day_night * cos(2 pi (t - 15 h) / 24 h)
// GPUs are drawn by weights, running times from a log-normal distribution.
struct ArrivalSettings {
  int count = 10'000;
  double span = 7.0 * 86'400.0;  // seconds
  double day_night = 0.5;
  std::vector<std::int64_t> gpus{1, 2, 4, 8, 16, 32, 64};
  std::vector<std::int64_t> weights{50, 8, 8, 22, 6, 4, 2};
  double median = 1'800.0;  // seconds
  double sigma = 1.8;       // of the logarithm
  double longest = 3.0 * 86'400.0;
  int types = 1;
  int share = kWholeGpu;  // of its GPU that a job of one GPU asks for
  std::uint64_t seed = 1;
};
[[nodiscard]] std::vector<ClusterJob> generated_jobs(const ArrivalSettings& settings);

// Of a log: jobs of more GPUs than the cluster has are left out and counted.
struct LoggedArrivals {
  std::vector<ClusterJob> jobs;
  std::size_t too_large = 0;
};
[[nodiscard]] LoggedArrivals logged_jobs(const traces::JobLog& log, int gpus, double compress);

}  // namespace ringwright::planning
