// Shortest job first: among waiting jobs, none is stopped for another.
#include "planning/jobs/scheduling_policy.h"

namespace ringwright::planning {
namespace {

class ShortestJobFirst final : public SchedulingPolicy {
 public:
  [[nodiscard]] double key(const ClusterJobView& job) const override { return job.remaining; }
};

}  // namespace

std::unique_ptr<SchedulingPolicy> make_sjf() {
  return std::make_unique<ShortestJobFirst>();
}

}  // namespace ringwright::planning
