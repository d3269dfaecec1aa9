// The jobs of a running cluster: their progress and their GPUs, which a policy gives and takes.
#pragma once

#include <cstdint>
#include <optional>
#include <queue>
#include <span>
#include <vector>

#include "planning/jobs/cluster_run.h"
#include "planning/jobs/gpu_pool.h"

namespace ringwright::planning {

struct JobState {
  double remaining = 0.0;    // seconds on the GPUs it asks for
  double attained = 0.0;     // GPU-seconds
  double speed = 0.0;        // while it runs
  double since = 0.0;        // its remaining time is as of then; later than now while it restarts
  double waits_since = 0.0;  // or runs since
  double stopped_at = -1.0;
  double begun = 0.0;         // its checkpoints are at equal intervals since
  double saved = 0.0;         // remaining at its last checkpoint
  double unsaved = 0.0;       // productive GPU-seconds since
  std::uint32_t version = 0;  // of its expected end
  bool preempted = false;     // since it ran
  std::optional<Grant> grant;
  std::optional<Grant> before;  // the last one
};

class RunningJobs {
 public:
  explicit RunningJobs(const ClusterInputs& inputs);

  [[nodiscard]] GpuPool& pool() { return pool_; }
  [[nodiscard]] const GpuPool& pool() const { return pool_; }
  [[nodiscard]] const JobState& state(std::size_t job) const { return states_[job]; }
  // In the order of their numbers.
  [[nodiscard]] const std::vector<std::size_t>& running() const { return running_; }
  [[nodiscard]] ClusterJobView view(std::size_t job) const;

  // Progress of a running job up to now.
  void advance(std::size_t job, double now);
  // GPUs for a waiting job: as many as it asks for, or `gpus`. False: there is no place.
  [[nodiscard]] bool start(std::size_t job, int gpus, Search search, double now);
  // Of running jobs, in an order, those to stop so that this one finds a place; empty: no choice of them makes one.
  [[nodiscard]] std::vector<std::size_t> in_the_way(std::size_t job, int gpus, Search search,
                                                    std::span<const std::size_t> later);
  // Stopped at this moment: it may have the same GPUs again, wherever they are.
  [[nodiscard]] bool just_stopped(std::size_t job, double now) const {
    return states_[job].before && !(states_[job].stopped_at < now);
  }
  // Takes all its GPUs; it waits again. Where it gets the same ones at this moment, it has not stopped.
  void stop(std::size_t job, double now);
  // The host is down: its jobs stop, which are returned, and repeat what they had not saved.
  [[nodiscard]] std::vector<std::size_t> fail_host(int host, double now);
  void repair_host(int host);
  [[nodiscard]] int gpus_down() const { return gpus_down_; }
  // To a better place, where that ends it earlier. True: it moved.
  [[nodiscard]] bool migrate(std::size_t job, double now);
  // The next end of a running job; nothing when none runs.
  [[nodiscard]] std::optional<double> next_end();
  // Ends the jobs whose time has come, and counts them.
  std::size_t end_until(double now);

  [[nodiscard]] std::vector<JobResult> take_results() { return std::move(results_); }
  [[nodiscard]] ClusterTotals& totals() { return totals_; }

 private:
  enum class Start : std::uint8_t { kAnew, kGoesOn };  // kGoesOn: where it was at this moment
  void put_on(std::size_t job, Grant grant, Start start, double now);
  [[nodiscard]] GpuPool::Wish wish_of(std::size_t job, int gpus, Search search) const;
  void expect_end(std::size_t job);
  // Of the GPUs of a running job, those that are its own: of one that it shares, an equal part or what it asked for.
  [[nodiscard]] double own_gpus(const JobState& state) const;
  // Up to now, before the jobs on a shared GPU change.
  void advance_all_on(std::size_t gpu, double now);
  // The speeds of all jobs on a shared GPU, once its jobs have changed.
  void share_gpu(std::size_t gpu);
  void drop(std::size_t job, double now);
  // Checkpoints of a job that advanced to `now`, and productive GPU-seconds of that time.
  void note_checkpoints(JobState& state, double time, double productive) const;
  [[nodiscard]] Grant all_of_host(int host) const;

  struct End {
    double at = 0.0;
    std::size_t job = 0;
    std::uint32_t version = 0;
    bool operator>(const End& other) const { return at > other.at || (!(other.at > at) && job > other.job); }
  };

  const ClusterInputs& inputs_;
  GpuPool pool_;
  std::vector<JobState> states_;
  std::vector<JobResult> results_;
  std::vector<std::size_t> running_;
  std::vector<std::vector<std::size_t>> on_shared_gpu_;  // jobs, by the number of the GPU
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  ClusterTotals totals_;
  int gpus_down_ = 0;
};

}  // namespace ringwright::planning
