// Redundant computation: each host of a pipeline also holds the stage of the next one and computes its forward pass in
// bubbles (Bamboo, Thorpe et al., NSDI 2023). After a loss the neighbour does both stages, at about twice the time of
// the slowest stage, until a host joins. Two neighbours lost at once: restart from the newest checkpoint.
#include <algorithm>
#include <vector>

#include "planning/operation/policies/builtin_policies.h"

namespace ringwright::planning {
namespace {

struct RedundantTimes {
  Spread failover;
  Spread join;
  double overhead = 0.0;
  double twice = 2.0;
};

class Redundant final : public RecoveryPolicy {
 public:
  Redundant(const Operation& operation, const RedundantTimes& times) : operation_(operation), times_(times) {}

  [[nodiscard]] RecoveryPlan plan(const JobView& job, RandomStream& stream) const override {
    if (neighbours_lost(job)) {
      return {.stall = whole_restart(operation_, stream), .loss = Loss::kVersion, .whole_restart = true};
    }
    return {.stall = times_.failover.draw(stream), .loss = Loss::kStep, .fills = false};
  }
  [[nodiscard]] std::optional<double> slowdown(const JobView& job) const override {
    if (neighbours_lost(job)) return std::nullopt;
    return (1.0 + times_.overhead) * (job.empty.empty() ? 1.0 : times_.twice);
  }
  [[nodiscard]] Joining joining(const JobView& /*job*/, RandomStream& stream) const override {
    return {.after = whole_restart(operation_, stream), .stall = times_.join.draw(stream)};
  }

 private:
  // The last host of a pipeline is held by the first.
  [[nodiscard]] static bool neighbours_lost(const JobView& job) {
    const std::int64_t length = job.shape().hosts_per_replica();
    return std::ranges::any_of(job.empty, [&](std::int64_t slot) {
      const std::int64_t next = slot / length * length + (slot % length + 1) % length;
      return next != slot && std::ranges::find(job.empty, next) != job.empty.end();
    });
  }

  const Operation& operation_;
  RedundantTimes times_;
};

}  // namespace

std::unique_ptr<RecoveryPolicy> make_redundant(ConfigMap map, const Operation& job) {
  const Spread init = Spread::fixed(job.restart.init_seconds(job.job.gpus));
  RedundantTimes times;
  times.failover = read_spread(map, {.name = "failover",
                                     .doc = "until the neighbour does both stages; default: initialising communicators",
                                     .fallback = init});
  times.join = read_spread(map, {.name = "join",
                                 .doc = "all wait while a host takes the place; default: initialising communicators",
                                 .fallback = init});
  times.overhead = map.percent({.name = "overhead",
                                .doc = "of the redundant forward pass on every step, what bubbles do not hide",
                                .fallback = 0.0,
                                .min = 0.0,
                                .max = 10.0});
  times.twice = map.number({.name = "failover_slowdown",
                            .doc = "step time with a neighbour that does both stages, relative to before",
                            .fallback = 2.0,
                            .min = 1.0,
                            .max = 100.0});
  return std::make_unique<Redundant>(job, times);
}

}  // namespace ringwright::planning
