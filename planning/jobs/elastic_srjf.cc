// Elastic shortest remaining job first (Voda's Elastic-SRJF).
#include "planning/jobs/scheduling_policy.h"

namespace ringwright::planning {
namespace {

class ElasticShortestRemaining final : public SchedulingPolicy {
 public:
  [[nodiscard]] double key(const ClusterJobView& job) const override { return job.remaining; }
  [[nodiscard]] bool preempts() const override { return true; }
  [[nodiscard]] bool in_rounds() const override { return true; }
  [[nodiscard]] bool resizes() const override { return true; }
  [[nodiscard]] std::vector<int> sizes(std::span<const ClusterJobView> jobs, int gpus,
                                       const JobSpeed& /*speed*/) const override {
    return least_then_turns(jobs, gpus);
  }
};

}  // namespace

std::unique_ptr<SchedulingPolicy> make_elastic_srjf() {
  return std::make_unique<ElasticShortestRemaining>();
}

}  // namespace ringwright::planning
