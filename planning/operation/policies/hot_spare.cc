// Hot spare: warm hosts take the places of lost ones without a restart of the others (TrainMover, arXiv 2412.12636;
// ByteRobust, arXiv 2509.16293). State comes from another replica, so that only the step in progress is done again;
// where no replica is whole, from the newest checkpoint.
#include "planning/operation/policies/builtin_policies.h"

namespace ringwright::planning {
namespace {

class HotSpare final : public RecoveryPolicy {
 public:
  explicit HotSpare(Spread stall) : stall_(stall) {}
  [[nodiscard]] RecoveryPlan plan(const JobView& job, RandomStream& stream) const override {
    const bool copied = job.shape().replicas > 1 && job.whole_replicas() > 0;
    return {.stall = stall_.draw(stream), .loss = copied ? Loss::kStep : Loss::kVersion};
  }

 private:
  Spread stall_;
};

}  // namespace

std::unique_ptr<RecoveryPolicy> make_hot_spare(ConfigMap map, const Operation& /*job*/) {
  // 19.8 s: an unexpected fault with a standby host, 32 GPUs (TrainMover, figure 8).
  return std::make_unique<HotSpare>(read_spread(map, {.name = "stall",
                                                      .doc = "from the diagnosis until all train again, state included",
                                                      .fallback = Spread::fixed(19.8)}));
}

}  // namespace ringwright::planning
