// Shortest remaining time first: a running job is stopped for one that ends earlier.
#include "planning/jobs/scheduling_policy.h"

namespace ringwright::planning {
namespace {

class ShortestRemainingTimeFirst final : public SchedulingPolicy {
 public:
  [[nodiscard]] double key(const ClusterJobView& job) const override { return job.remaining; }
  [[nodiscard]] bool preempts() const override { return true; }
};

}  // namespace

std::unique_ptr<SchedulingPolicy> make_srtf() {
  return std::make_unique<ShortestRemainingTimeFirst>();
}

}  // namespace ringwright::planning
