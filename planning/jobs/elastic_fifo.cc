// Elastic first in, first out (Voda's Elastic-FIFO).
#include "planning/jobs/scheduling_policy.h"

namespace ringwright::planning {
namespace {

class ElasticFifo final : public SchedulingPolicy {
 public:
  [[nodiscard]] double key(const ClusterJobView& job) const override { return job.job->submit; }
  [[nodiscard]] bool preempts() const override { return true; }
  [[nodiscard]] bool in_rounds() const override { return true; }
  [[nodiscard]] bool resizes() const override { return true; }
  [[nodiscard]] std::vector<int> sizes(std::span<const ClusterJobView> jobs, int gpus,
                                       const JobSpeed& /*speed*/) const override {
    return least_then_turns(jobs, gpus);
  }
};

}  // namespace

std::unique_ptr<SchedulingPolicy> make_elastic_fifo() {
  return std::make_unique<ElasticFifo>();
}

}  // namespace ringwright::planning
