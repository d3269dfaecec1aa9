// Resharding: the hosts that are left divide the job anew, and fetch from each other the parts of the state that they
// lack (Tenplex, SOSP 2024; planning/operation/reshard.h). Where a part is on no host, all load the newest version.
//
//   stall   plan + the largest share that a host fetches x state / bandwidth + communicators
//   step    hosts / (hosts of the new layout) of the time
#include "planning/operation/reshard.h"
#include "planning/operation/policies/builtin_policies.h"
#include "planning/operation/policies/least_left.h"
#include "planning/operation/policies/state_copy.h"

namespace ringwright::planning {
namespace {

struct ReshardSettings {
  Spread reconfigure;
  JobTime copy;  // of a whole replica's state by one host
  std::int64_t least_hosts = 1;
};

class ReshardPolicy final : public RecoveryPolicy {
 public:
  ReshardPolicy(const Operation& operation, const ReshardSettings& settings)
      : operation_(operation), settings_(settings) {}

  [[nodiscard]] RecoveryPlan plan(const JobView& job, RandomStream& stream) const override {
    const HostLayout to = layout_left(job);
    const bool runs = to.replicas > 0;
    if (!runs || !reshard(job.shape(), job.empty, to).is_complete) {
      return {.stall = whole_restart(operation_, stream),
              .loss = Loss::kVersion,
              .fills = !runs,
              .takes_spare = true,
              .whole_restart = true};
    }
    return {.stall = settings_.reconfigure.draw(stream) + copying(reshard(job.shape(), job.empty, to)),
            .loss = Loss::kStep,
            .fills = false,
            .takes_spare = true};
  }
  [[nodiscard]] std::optional<double> slowdown(const JobView& job) const override {
    const HostLayout to = layout_left(job);
    if (to.replicas < 1) return std::nullopt;
    return static_cast<double>(job.shape().hosts()) / static_cast<double>(to.hosts());
  }
  // The way back to the whole layout moves as much.
  [[nodiscard]] Joining joining(const JobView& job, RandomStream& stream) const override {
    const HostLayout whole = layout_over(job.shape(), job.shape().hosts(), settings_.least_hosts);
    return {.after = {}, .stall = settings_.reconfigure.draw(stream) + copying(reshard(job.shape(), job.empty, whole))};
  }

 private:
  [[nodiscard]] HostLayout layout_left(const JobView& job) const {
    return layout_over(job.shape(), job.shape().hosts() - std::ssize(job.empty), settings_.least_hosts);
  }
  [[nodiscard]] JobTime copying(const Resharding& moves) const {
    return job_seconds(seconds_of(settings_.copy) * moves.largest);
  }

  const Operation& operation_;
  ReshardSettings settings_;
};

}  // namespace

std::unique_ptr<RecoveryPolicy> make_reshard(ConfigMap map, const Operation& job) {
  ReshardSettings settings;
  settings.reconfigure = read_spread(map, {.name = "reconfigure",
                                           .doc = "the new plan and communicators; default: initialising communicators",
                                           .fallback = Spread::fixed(job.restart.init_seconds(job.job.gpus))});
  settings.copy = read_state_copy(map);
  settings.least_hosts = read_least(map, {.name = "least_hosts",
                                          .doc = "that hold the model; default: as many as a replica has",
                                          .fallback = job.job.hosts_per_replica(),
                                          .has = job.job.hosts()});
  return std::make_unique<ReshardPolicy>(job, settings);
}

}  // namespace ringwright::planning
