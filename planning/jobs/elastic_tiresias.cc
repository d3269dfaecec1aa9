// Elastic least attained service, in the queues of Tiresias (Voda's Elastic-Tiresias).
#include "planning/jobs/scheduling_policy.h"

namespace ringwright::planning {
namespace {

class ElasticTiresias final : public SchedulingPolicy {
 public:
  [[nodiscard]] double key(const ClusterJobView& job) const override { return tiresias_queue(job.attained); }
  [[nodiscard]] bool preempts() const override { return true; }
  [[nodiscard]] bool in_rounds() const override { return true; }
  [[nodiscard]] bool resizes() const override { return true; }
  [[nodiscard]] std::vector<int> sizes(std::span<const ClusterJobView> jobs, int gpus,
                                       const JobSpeed& /*speed*/) const override {
    return least_then_most(jobs, gpus);
  }
};

}  // namespace

std::unique_ptr<SchedulingPolicy> make_elastic_tiresias() {
  return std::make_unique<ElasticTiresias>();
}

}  // namespace ringwright::planning
