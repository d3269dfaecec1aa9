// Replica drop: the other replicas reconfigure and go on; the lost one starts elsewhere and rejoins (torchft;
// FT-HSDP, arXiv 2602.00277). The step in progress is done again. With r of R replicas the global batch is smaller in
// that ratio: work of R steps takes R / r of their time.
#include "planning/operation/policies/builtin_policies.h"
#include "planning/operation/policies/least_left.h"

namespace ringwright::planning {
namespace {

struct ReplicaTimes {
  Spread stall;
  Spread rejoin_after;
  Spread rejoin;
  std::int64_t least = 1;
};

class ReplicaDrop final : public RecoveryPolicy {
 public:
  explicit ReplicaDrop(const ReplicaTimes& times) : times_(times) {}

  [[nodiscard]] RecoveryPlan plan(const JobView& job, RandomStream& stream) const override {
    const std::int64_t left = job.whole_replicas();
    return {.stall = times_.stall.draw(stream),
            .loss = left > 0 ? Loss::kStep : Loss::kVersion,
            .fills = left < times_.least};
  }
  [[nodiscard]] std::optional<double> slowdown(const JobView& job) const override {
    const std::int64_t left = job.whole_replicas();
    if (left < times_.least) return std::nullopt;
    return static_cast<double>(job.shape().replicas) / static_cast<double>(left);
  }
  [[nodiscard]] Joining joining(const JobView& /*job*/, RandomStream& stream) const override {
    const JobTime after = times_.rejoin_after.draw(stream);
    return {.after = after, .stall = times_.rejoin.draw(stream)};
  }

 private:
  ReplicaTimes times_;
};

}  // namespace

std::unique_ptr<RecoveryPolicy> make_replica_drop(ConfigMap map, const Operation& job) {
  const double init = job.restart.init_seconds(job.job.gpus);
  const double again = job.restart.schedule.mean() + job.restart.container.mean() + init + job.restart.warmup.mean();
  ReplicaTimes times;
  times.stall = read_spread(map, {.name = "stall",
                                  .doc = "until the other replicas train again; default: initialising communicators",
                                  .fallback = Spread::fixed(init)});
  times.rejoin_after = read_spread(map, {.name = "rejoin_after",
                                         .doc = "from then until the lost replica is ready; default: a restart",
                                         .fallback = Spread::fixed(again)});
  times.rejoin = read_spread(map, {.name = "rejoin",
                                   .doc = "all wait while it joins; default: initialising communicators",
                                   .fallback = Spread::fixed(init)});
  times.least = read_least(map, {.name = "least_replicas",
                                 .doc = "the job waits for hosts rather than train with fewer replicas",
                                 .has = job.job.replicas});
  return std::make_unique<ReplicaDrop>(times);
}

}  // namespace ringwright::planning
