// Shrinking communicators: the others revoke the communicator, agree on who failed, shrink it, and do the failed
// collective again; nothing else is lost (ULFM: Bland et al., IJHPCA 2013; for training Li et al., SC-W 2023).
//
//   stall                       hop x 5 ceil(log2 n) of n processes: the revocation passes a tree once, the agreement
//                               and the one within the shrink go up and down (Herault et al., SC 2015); then the GPUs'
//                               communicators, and the collective
//   step with r of R replicas   R / r of the time
#include <algorithm>
#include <bit>

#include "planning/operation/policies/builtin_policies.h"
#include "planning/operation/policies/least_left.h"
#include "planning/operation/policies/state_copy.h"

namespace ringwright::planning {
namespace {

constexpr double kTreePasses = 5.0;

struct ShrinkTimes {
  Spread hop;
  Spread communicators;
  Spread collective;
  JobTime copy;
  std::int64_t least = 1;
};

class ShrinkCollective final : public RecoveryPolicy {
 public:
  explicit ShrinkCollective(const ShrinkTimes& times) : times_(times) {}

  [[nodiscard]] RecoveryPlan plan(const JobView& job, RandomStream& stream) const override {
    const std::int64_t left = job.whole_replicas();
    JobTime stall = agreement(job, stream);
    stall += times_.collective.draw(stream);
    return {.stall = stall, .loss = left > 0 ? Loss::kNothing : Loss::kVersion, .fills = left < times_.least};
  }
  [[nodiscard]] std::optional<double> slowdown(const JobView& job) const override {
    const std::int64_t left = job.whole_replicas();
    if (left < times_.least) return std::nullopt;
    return static_cast<double>(job.shape().replicas) / static_cast<double>(left);
  }
  [[nodiscard]] Joining joining(const JobView& job, RandomStream& stream) const override {
    return {.after = {}, .stall = agreement(job, stream) + times_.copy};
  }

 private:
  [[nodiscard]] JobTime agreement(const JobView& job, RandomStream& stream) const {
    const auto gpus = static_cast<std::uint64_t>(std::max<std::int64_t>(2, job.shape().gpus));
    const double levels = static_cast<double>(std::bit_width(gpus - 1));
    const double hops = kTreePasses * levels * seconds_of(times_.hop.draw(stream));
    return job_seconds(hops) + times_.communicators.draw(stream);
  }

  ShrinkTimes times_;
};

}  // namespace

std::unique_ptr<RecoveryPolicy> make_shrink_collective(ConfigMap map, const Operation& job) {
  ShrinkTimes times;
  times.hop = read_spread(
      map, {.name = "hop", .doc = "of the agreement, from one process to the next", .fallback = Spread::fixed(20e-6)});
  times.communicators = read_spread(map, {.name = "communicators",
                                          .doc = "of the GPUs, after the agreement; default: initialising them all",
                                          .fallback = Spread::fixed(job.restart.init_seconds(job.job.gpus))});
  times.collective =
      read_spread(map, {.name = "collective", .doc = "the failed one, done again", .fallback = Spread::fixed(0.0)});
  times.copy = read_state_copy(map);
  times.least = read_least(map, {.name = "least_replicas",
                                 .doc = "the job waits for hosts rather than train with fewer replicas",
                                 .has = job.job.replicas});
  return std::make_unique<ShrinkCollective>(times);
}

}  // namespace ringwright::planning
