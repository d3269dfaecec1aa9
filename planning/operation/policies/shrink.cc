// Shrink and grow: restart at once with as many whole replicas as there are hosts for, the global batch unchanged
// (Varuna's job morphing, EuroSys 2022), and again when hosts for another replica have come back.
//
//   step time with r of R replicas   step x R / r: each replica computes more microbatches
#include <algorithm>

#include "planning/operation/policies/builtin_policies.h"
#include "planning/operation/policies/least_left.h"

namespace ringwright::planning {
namespace {

class Shrink final : public RecoveryPolicy {
 public:
  Shrink(const Operation& operation, std::int64_t least) : operation_(operation), least_(least) {}

  [[nodiscard]] RecoveryPlan plan(const JobView& job, RandomStream& stream) const override {
    return {.stall = whole_restart(operation_, stream),
            .loss = Loss::kVersion,
            .fills = replicas_with(job.shape(), std::ssize(job.empty)) < least_,
            .takes_spare = true,
            .whole_restart = true};
  }
  [[nodiscard]] std::optional<double> slowdown(const JobView& job) const override {
    const std::int64_t left = replicas_with(job.shape(), std::ssize(job.empty));
    if (left < least_) return std::nullopt;
    return static_cast<double>(job.shape().units()) / static_cast<double>(left);
  }
  // It saves before it stops, so that nothing is lost.
  [[nodiscard]] Joining joining(const JobView& job, RandomStream& stream) const override {
    Joining join{.after = {}, .stall = whole_restart(operation_, stream)};
    if (!job.operation.tiers.empty()) {
      const CheckpointTier& last = job.operation.tiers.back();
      join.stall += last.stall + last.write + last.load;
    }
    return join;
  }
  [[nodiscard]] bool wants(const JobView& job, std::int64_t spare) const override {
    const std::int64_t empty = std::ssize(job.empty);
    return replicas_with(job.shape(), std::max<std::int64_t>(0, empty - spare)) > replicas_with(job.shape(), empty);
  }

 private:
  // The layout is made anew: hosts of broken replicas make whole ones.
  [[nodiscard]] static std::int64_t replicas_with(const JobShape& shape, std::int64_t empty) {
    return shape.replicas_on(shape.hosts() - empty);
  }

  const Operation& operation_;
  std::int64_t least_;
};

}  // namespace

std::unique_ptr<RecoveryPolicy> make_shrink(ConfigMap map, const Operation& job) {
  return std::make_unique<Shrink>(
      job, read_least(map, {.name = "least_replicas",
                            .doc = "the job waits for hosts rather than train with fewer replicas",
                            .has = job.job.units()}));
}

}  // namespace ringwright::planning
