// Dynamic shards of data: a master hands workers shards of the data set; the shard of a lost worker goes back to the
// queue, and the other workers never stop (ElasticDL, WSDM 2023; DLRover, arXiv 2304.01468).
//
//   lost     the part of its shard that each lost worker had done, uniform in [0, shard), of hosts' time: / hosts
//   step     hosts / hosts left of the time
#include "planning/operation/policies/builtin_policies.h"
#include "planning/operation/policies/least_left.h"

namespace ringwright::planning {
namespace {

struct ShardSettings {
  JobTime shard;
  Spread stall;
  Spread join_after;
  std::int64_t least = 1;
};

class Shards final : public RecoveryPolicy {
 public:
  explicit Shards(const ShardSettings& settings) : settings_(settings) {}

  [[nodiscard]] bool goes_on_meanwhile() const override { return true; }
  [[nodiscard]] RecoveryPlan plan(const JobView& job, RandomStream& stream) const override {
    double lost = 0.0;
    for (std::int64_t worker = 0; worker < job.lost; ++worker) lost += stream.next_unit();
    const double share = lost / static_cast<double>(job.shape().hosts());
    return {.stall = settings_.stall.draw(stream),
            .loss = Loss::kNothing,
            .fills = !slowdown(job),
            .again = job_seconds(seconds_of(settings_.shard) * share)};
  }
  [[nodiscard]] std::optional<double> slowdown(const JobView& job) const override {
    const std::int64_t hosts = job.shape().hosts(), left = hosts - std::ssize(job.empty);
    if (left < settings_.least) return std::nullopt;
    return static_cast<double>(hosts) / static_cast<double>(left);
  }
  [[nodiscard]] Joining joining(const JobView& /*job*/, RandomStream& stream) const override {
    return {.after = settings_.join_after.draw(stream), .stall = settings_.stall.draw(stream)};
  }

 private:
  ShardSettings settings_;
};

}  // namespace

std::unique_ptr<RecoveryPolicy> make_shards(ConfigMap map, const Operation& job) {
  ShardSettings settings;
  settings.shard =
      job_seconds(read_seconds(map, {.name = "shard", .doc = "time of a worker for one shard", .fallback = 60.0}));
  settings.stall = read_spread(map, {.name = "stall",
                                     .doc = "of all, when a worker leaves or joins; 0 s with parameter servers",
                                     .fallback = Spread::fixed(0.0)});
  const double start = job.restart.schedule.mean() + job.restart.container.mean();
  settings.join_after = read_spread(map, {.name = "join_after",
                                          .doc = "until a new worker takes its first shard; default: a restart's "
                                                 "schedule and container",
                                          .fallback = Spread::fixed(start)});
  settings.least = read_least(
      map, {.name = "least_hosts", .doc = "the job waits rather than go on with fewer", .has = job.job.hosts()});
  return std::make_unique<Shards>(settings);
}

}  // namespace ringwright::planning
