// Commit and synchronise: every `commit_every` steps each worker commits its state to host memory; after a fault the
// others meet again, go back to the last commit, which is broadcast from one of them, and go on with fewer workers; new
// ones join at the next commit (Elastic Horovod, docs of Horovod 0.20 and later).
//
//   lost                        the steps since the last commit, fewer than commit_every, and the started one
//   stall                       rendezvous + state / bandwidth
//   step with r of R replicas   R / r of the time: batches of a worker stay as they are
#include "planning/operation/policies/builtin_policies.h"
#include "planning/operation/policies/least_left.h"
#include "planning/operation/policies/state_copy.h"

namespace ringwright::planning {
namespace {

struct CommitSettings {
  std::int64_t every = 1;
  JobTime commit;
  Spread rendezvous;
  JobTime broadcast;
  std::int64_t least = 1;
};

class Commit final : public RecoveryPolicy {
 public:
  explicit Commit(const CommitSettings& settings) : settings_(settings) {}

  [[nodiscard]] RecoveryPlan plan(const JobView& job, RandomStream& stream) const override {
    const std::int64_t left = job.whole_replicas();
    return {.stall = settings_.rendezvous.draw(stream) + settings_.broadcast,
            .loss = left > 0 ? Loss::kCommit : Loss::kVersion,
            .fills = left < settings_.least,
            .takes_spare = true,
            .commit_every = settings_.every};
  }
  // Commits cost time whether anything fails or not.
  [[nodiscard]] std::optional<double> slowdown(const JobView& job) const override {
    const std::int64_t left = job.whole_replicas();
    if (left < settings_.least) return std::nullopt;
    const double step = seconds_of(job.shape().step);
    const double committing = 1.0 + seconds_of(settings_.commit) / (static_cast<double>(settings_.every) * step);
    return committing * static_cast<double>(job.shape().replicas) / static_cast<double>(left);
  }
  [[nodiscard]] Joining joining(const JobView& /*job*/, RandomStream& stream) const override {
    return {.after = {}, .stall = settings_.rendezvous.draw(stream) + settings_.broadcast};
  }

 private:
  CommitSettings settings_;
};

}  // namespace

std::unique_ptr<RecoveryPolicy> make_commit(ConfigMap map, const Operation& job) {
  CommitSettings settings;
  settings.every = map.integer(
      {.name = "commit_every", .doc = "steps between commits", .fallback = 1, .min = 1, .max = 1'000'000'000});
  settings.commit = job_seconds(
      read_seconds(map, {.name = "commit", .doc = "of training, for each commit to host memory", .fallback = 0.0}));
  settings.rendezvous = read_spread(map, {.name = "rendezvous",
                                          .doc = "until the others have met and have communicators; default: "
                                                 "initialising communicators",
                                          .fallback = Spread::fixed(job.restart.init_seconds(job.job.gpus))});
  settings.broadcast = read_state_copy(map);
  settings.least = read_least(map, {.name = "least_replicas",
                                    .doc = "the job waits for hosts rather than train with fewer replicas (min_np)",
                                    .has = job.job.replicas});
  return std::make_unique<Commit>(settings);
}

}  // namespace ringwright::planning
