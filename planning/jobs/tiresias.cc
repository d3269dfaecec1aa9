// Least attained service in discrete queues, after Tiresias (Gu et al., NSDI'19).
#include "planning/jobs/scheduling_policy.h"

namespace ringwright::planning {
namespace {

// Where a queue ends, in GPU-seconds: an hour of one GPU, and ten hours. Jobs of one queue run in the order of their
// submission, so that they do not take turns.
constexpr double kFirstQueue = 3600.0;
constexpr double kSecondQueue = 36'000.0;

class Tiresias final : public SchedulingPolicy {
 public:
  [[nodiscard]] double key(const ClusterJobView& job) const override { return tiresias_queue(job.attained); }
  [[nodiscard]] bool preempts() const override { return true; }
  [[nodiscard]] bool in_rounds() const override { return true; }
};

}  // namespace

double tiresias_queue(double attained) {
  if (attained < kFirstQueue) return 0.0;
  return attained < kSecondQueue ? 1.0 : 2.0;
}

std::unique_ptr<SchedulingPolicy> make_tiresias() {
  return std::make_unique<Tiresias>();
}

}  // namespace ringwright::planning
