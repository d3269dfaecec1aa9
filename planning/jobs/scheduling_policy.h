// The port for policies that schedule the jobs of a cluster: an order, and what they may do to running jobs.
//
// One policy is one file of this room and one row in builtin_policies.cc.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "planning/jobs/cluster_job.h"
#include "planning/jobs/job_speed.h"

namespace ringwright::planning {

// What a policy knows of a job that waits or runs.
struct ClusterJobView {
  const ClusterJob* job = nullptr;
  double remaining = 0.0;  // seconds on the GPUs it asks for
  double attained = 0.0;   // GPU-seconds so far
  int gpus = 0;            // 0: it waits

  // On so many GPUs at their best locality.
  [[nodiscard]] double remaining_on(int on, const JobSpeed& speed) const { return remaining / speed.at_best(*job, on); }
};

class SchedulingPolicy {
 public:
  virtual ~SchedulingPolicy() = default;
  // Jobs with smaller keys come first; of equal ones the earlier submitted.
  [[nodiscard]] virtual double key(const ClusterJobView& job) const = 0;
  // Running jobs may be stopped for those that come before them.
  [[nodiscard]] virtual bool preempts() const { return false; }
  // Acts at ticks of the round only, since keys change with time.
  [[nodiscard]] virtual bool in_rounds() const { return false; }
  // Sets the GPUs of jobs between their least and most.
  [[nodiscard]] virtual bool resizes() const { return false; }
  // Of a policy that resizes: GPUs of all jobs, which are in the order of their keys; 0: it waits.
  [[nodiscard]] virtual std::vector<int> sizes(std::span<const ClusterJobView> /*jobs*/, int /*gpus*/,
                                               const JobSpeed& /*speed*/) const {
    return {};
  }
};

// Every job its least, in order, as long as GPUs last; then what is left one GPU at a time, in turn, up to the most of
// each.
[[nodiscard]] std::vector<int> least_then_turns(std::span<const ClusterJobView> jobs, int gpus);

struct SchedulingPolicyEntry {
  std::string_view name;
  std::string_view help;
  std::unique_ptr<SchedulingPolicy> (*make)();
};
[[nodiscard]] std::span<const SchedulingPolicyEntry> scheduling_policies();

std::unique_ptr<SchedulingPolicy> make_fifo();
std::unique_ptr<SchedulingPolicy> make_fifo_preemptive();
std::unique_ptr<SchedulingPolicy> make_sjf();
std::unique_ptr<SchedulingPolicy> make_srtf();
std::unique_ptr<SchedulingPolicy> make_tiresias();
std::unique_ptr<SchedulingPolicy> make_elastic_fifo();
std::unique_ptr<SchedulingPolicy> make_elastic_srjf();
std::unique_ptr<SchedulingPolicy> make_elastic_tiresias();
std::unique_ptr<SchedulingPolicy> make_afs_l();

// Tiresias (Gu et al., NSDI'19), discretised two-dimensional least attained service: the queue of a job by its
// GPU-seconds so far.
[[nodiscard]] double tiresias_queue(double attained);

}  // namespace ringwright::planning
