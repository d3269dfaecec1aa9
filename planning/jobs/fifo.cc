// First in, first out.
#include "planning/jobs/scheduling_policy.h"

namespace ringwright::planning {
namespace {

class Fifo final : public SchedulingPolicy {
 public:
  [[nodiscard]] double key(const ClusterJobView& job) const override { return job.job->submit; }
};

}  // namespace

std::unique_ptr<SchedulingPolicy> make_fifo() {
  return std::make_unique<Fifo>();
}

}  // namespace ringwright::planning
