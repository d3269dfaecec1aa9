// Elastic-Tiresias (Wu et al., "Elastic Deep Learning in Multi-Tenant GPU Clusters", TPDS 2021, as Voda has it): the
// queues of Tiresias, and
//
//   1. to each job, queue by queue, the GPUs that it asks for;
//   2. while more than ten jobs wait, jobs of all queues but the first shrink to their least;
//   3. free GPUs go one by one to the job whose speed grows most by it, and to a waiting job its least at once, where
//      the speed of each of them counts.
//
// The speed is relative to that on the GPUs that a job asks for, times these: one GPU at full speed counts 1.
#include <queue>
#include <utility>

#include "planning/jobs/scheduling_policy.h"

namespace ringwright::planning {
namespace {

constexpr int kWaitingBeforeShrinking = 10;

class ElasticDivision {
 public:
  ElasticDivision(std::span<const ClusterJobView> jobs, int gpus, const JobSpeed& speed)
      : jobs_(jobs), speed_(speed), free_(gpus), sizes_(jobs.size()) {}

  std::vector<int> divide() {
    int waiting = 0;
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      if (jobs_[i].job->gpus <= free_) {
        give(i, jobs_[i].job->gpus);
      } else {
        ++waiting;
      }
    }
    if (waiting > kWaitingBeforeShrinking) shrink();
    give_by_gain();
    return std::move(sizes_);
  }

 private:
  void give(std::size_t job, int gpus) {
    sizes_[job] += gpus;
    free_ -= gpus;
  }
  void shrink() {
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      if (sizes_[i] > jobs_[i].job->least && tiresias_queue(jobs_[i].attained) > 0.0) {
        give(i, jobs_[i].job->least - sizes_[i]);
      }
    }
  }

  [[nodiscard]] double speed_of(std::size_t job, int gpus) const {
    if (gpus == 0) return 0.0;
    return speed_.at_best(*jobs_[job].job, gpus) * jobs_[job].job->gpus;
  }
  // GPUs that the job would get next.
  [[nodiscard]] int step(std::size_t job) const { return sizes_[job] == 0 ? jobs_[job].job->least : 1; }
  [[nodiscard]] double gain(std::size_t job) const {
    return (speed_of(job, sizes_[job] + step(job)) - speed_of(job, sizes_[job])) / step(job);
  }
  void give_by_gain() {
    struct Offer {
      double gain = 0.0;
      std::size_t job = 0;
      bool operator<(const Offer& other) const {
        return gain < other.gain || (!(other.gain < gain) && job > other.job);  // of equal ones the first
      }
    };
    std::priority_queue<Offer> offers;
    const auto offer = [&](std::size_t job) {
      if (sizes_[job] < jobs_[job].job->most) offers.push({.gain = gain(job), .job = job});
    };
    for (std::size_t i = 0; i < jobs_.size() && free_ > 0; ++i) offer(i);
    for (; free_ > 0 && !offers.empty() && offers.top().gain > 0.0;) {
      const std::size_t job = offers.top().job;
      offers.pop();
      if (step(job) > free_) continue;
      give(job, step(job));
      offer(job);
    }
  }

  std::span<const ClusterJobView> jobs_;
  const JobSpeed& speed_;
  int free_;
  std::vector<int> sizes_;
};

class ElasticTiresias final : public SchedulingPolicy {
 public:
  [[nodiscard]] double key(const ClusterJobView& job) const override { return tiresias_queue(job.attained); }
  [[nodiscard]] bool preempts() const override { return true; }
  [[nodiscard]] bool in_rounds() const override { return true; }
  [[nodiscard]] bool resizes() const override { return true; }
  [[nodiscard]] std::vector<int> sizes(std::span<const ClusterJobView> jobs, int gpus,
                                       const JobSpeed& speed) const override {
    return ElasticDivision(jobs, gpus, speed).divide();
  }
};

}  // namespace

std::unique_ptr<SchedulingPolicy> make_elastic_tiresias() {
  return std::make_unique<ElasticTiresias>();
}

}  // namespace ringwright::planning
