// AFS-L (Hwang et al., "Elastic Resource Sharing for Distributed Deep Learning", NSDI'21): GPUs go one after another to
// the job on top, found by comparing pairs with known lengths.
//
// Of two jobs the one that would end earlier on what it has gets the next GPU, unless the other gains more of it
// relative to its speed with it than the first to its speed without it:
//
//     (p_b' - p_b) / p_b' > (p_a' - p_a) / p_a     with a the earlier, p the speed and p' that with one GPU more
//
// Here a step doubles the GPUs of a job (from its least to its most), as gangs grow; a tournament over all jobs finds
// the top in a logarithm of their number.
#include <algorithm>
#include <bit>

#include "planning/jobs/scheduling_policy.h"

namespace ringwright::planning {
namespace {

class Tournament {
 public:
  Tournament(std::span<const ClusterJobView> jobs, const JobSpeed& speed)
      : jobs_(jobs), speed_(speed), sizes_(jobs.size()), out_(jobs.size()), leaves_(std::bit_ceil(jobs.size())) {
    winner_.assign(2 * leaves_, kNobody);
    for (std::size_t i = 0; i < jobs.size(); ++i) winner_[leaves_ + i] = i;
    for (std::size_t at = leaves_; at-- > 1;) winner_[at] = better(winner_[2 * at], winner_[2 * at + 1]);
  }

  std::vector<int> divide(int gpus) {
    for (std::size_t top = winner_[1]; top != kNobody && gpus > 0; top = winner_[1]) {
      const int more = step(top);
      if (more <= gpus && more > 0) {
        sizes_[top] += more;
        gpus -= more;
      } else {
        out_[top] = true;
      }
      if (step(top) == 0) out_[top] = true;
      play_again(top);
    }
    return std::move(sizes_);
  }

 private:
  static constexpr std::size_t kNobody = ~std::size_t{0};

  // GPUs that the job would get next; 0: it has its most.
  [[nodiscard]] int step(std::size_t job) const {
    const ClusterJob& own = *jobs_[job].job;
    if (sizes_[job] == 0) return own.least;
    return std::min(2 * sizes_[job], own.most) - sizes_[job];
  }
  [[nodiscard]] double speed_of(std::size_t job, int gpus) const {
    return gpus == 0 ? 0.0 : speed_.at_best(*jobs_[job].job, gpus);
  }

  [[nodiscard]] std::size_t better(std::size_t one, std::size_t other) const {
    if (one == kNobody || out_[one]) return other == kNobody || out_[other] ? kNobody : other;
    if (other == kNobody || out_[other]) return one;
    // A job without GPUs comes before those with some; of two without, the shorter.
    if (sizes_[one] == 0 || sizes_[other] == 0) {
      if (sizes_[one] != sizes_[other]) return sizes_[one] == 0 ? one : other;
      return jobs_[other].remaining < jobs_[one].remaining ? other : one;
    }
    const double ends_one = jobs_[one].remaining / speed_of(one, sizes_[one]);
    const double ends_other = jobs_[other].remaining / speed_of(other, sizes_[other]);
    const std::size_t a = ends_other < ends_one ? other : one;
    const std::size_t b = a == one ? other : one;
    const double pa = speed_of(a, sizes_[a]);
    const double pb = speed_of(b, sizes_[b]);
    const double more_a = speed_of(a, sizes_[a] + step(a));
    const double more_b = speed_of(b, sizes_[b] + step(b));
    return (more_b - pb) / more_b > (more_a - pa) / pa ? b : a;
  }

  void play_again(std::size_t job) {
    std::size_t at = leaves_ + job;
    if (out_[job]) winner_[at] = kNobody;
    for (at /= 2; at >= 1; at /= 2) winner_[at] = better(winner_[2 * at], winner_[2 * at + 1]);
  }

  std::span<const ClusterJobView> jobs_;
  const JobSpeed& speed_;
  std::vector<int> sizes_;
  std::vector<bool> out_;  // it gets no more
  std::size_t leaves_;
  std::vector<std::size_t> winner_;  // of a binary tree: 1 is the root
};

class AfsL final : public SchedulingPolicy {
 public:
  [[nodiscard]] double key(const ClusterJobView& job) const override { return job.remaining; }
  [[nodiscard]] bool preempts() const override { return true; }
  [[nodiscard]] bool in_rounds() const override { return true; }
  [[nodiscard]] bool resizes() const override { return true; }
  [[nodiscard]] std::vector<int> sizes(std::span<const ClusterJobView> jobs, int gpus,
                                       const JobSpeed& speed) const override {
    return jobs.empty() ? std::vector<int>() : Tournament(jobs, speed).divide(gpus);
  }
};

}  // namespace

std::unique_ptr<SchedulingPolicy> make_afs_l() {
  return std::make_unique<AfsL>();
}

}  // namespace ringwright::planning
