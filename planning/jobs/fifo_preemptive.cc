// First in, first out, chosen anew in each round: the first jobs that the cluster holds run, and others stop (Voda's
// FIFO, heyfey/vodascheduler, pkg/algorithm/fifo.go). It is what Elastic-FIFO is without elasticity.
#include "planning/jobs/scheduling_policy.h"

namespace ringwright::planning {
namespace {

class FifoPreemptive final : public SchedulingPolicy {
 public:
  [[nodiscard]] double key(const ClusterJobView& job) const override { return job.job->submit; }
  [[nodiscard]] bool preempts() const override { return true; }
  [[nodiscard]] bool in_rounds() const override { return true; }
};

}  // namespace

std::unique_ptr<SchedulingPolicy> make_fifo_preemptive() {
  return std::make_unique<FifoPreemptive>();
}

}  // namespace ringwright::planning
