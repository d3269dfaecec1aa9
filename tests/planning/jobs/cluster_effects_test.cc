#include "planning/jobs/cluster_effects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/diagnostic.h"

namespace ringwright::planning::cluster_effects_test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string warnings(const std::string& jobs, const std::string& rest) {
  const auto plan = load_cluster_plan_text("week.yaml", "cluster: {hosts: 2, gpus_per_host: 8}\njobs: {count: 10, "
                                                        "gpus: [1, 8], weights: [1, 1]" + jobs + "}\n" + rest);
  return plan ? render(plan->warnings) : "refused: " + render(plan.error());
}

struct Trial {
  std::string key;
  std::string jobs;
  std::string idle;  // the rest of a file in which it has no effect
  std::string acts;
};

// Each is named where it changes nothing, and is not where it does.
TEST(ClusterEffects, KeysWithoutEffectAreNamed) {
  const std::string fifo = "scheduler: {policies: [fifo]}\n";
  const std::string elastic = "scheduler: {policies: [fifo, elastic_fifo]}\n";
  const std::string relaxed = "scheduler: {policies: [fifo], locality: relaxed}\n";
  for (const Trial& trial : {
           Trial{"jobs.least", ", least: 0.5", fifo, elastic},
           Trial{"jobs.most", ", most: 2", fifo, elastic},
           Trial{"jobs.types", ", types: 2", fifo, "speed: {machine: none.yaml}\n" + elastic},
           Trial{"speed.scaling", "", "speed: {scaling: 0.9}\n" + fifo, "speed: {scaling: 0.9}\n" + elastic},
           Trial{"speed.unit", "", "speed: {unit: 90%}\n" + fifo, "speed: {unit: 90%}\n" + relaxed},
           Trial{"speed.fabric", "", "speed: {fabric: 90%}\n" + fifo, "speed: {fabric: 90%}\n" + elastic},
           Trial{"scheduler.round", "", "scheduler: {policies: [srtf], round: 5s}\n",
                 "scheduler: {policies: [tiresias], round: 5s}\n"},
           Trial{"scheduler.restart", "", "scheduler: {policies: [sjf], restart: 5s}\n",
                 "scheduler: {policies: [srtf], restart: 5s}\n"},
           Trial{"scheduler.migrate", "", "speed: {unit: 90%}\nscheduler: {policies: [fifo], migrate: true}\n",
                 "speed: {unit: 90%}\nscheduler: {policies: [fifo], migrate: true, locality: relaxed}\n"},
           // Where no place is better, nothing moves, and nothing restarts.
           Trial{"scheduler.migrate", "", "scheduler: {policies: [elastic_fifo], migrate: true}\n",
                 "speed: {fabric: 90%}\nscheduler: {policies: [elastic_fifo], migrate: true}\n"},
           Trial{"scheduler.restart", "", "scheduler: {migrate: true, locality: relaxed, restart: 5s}\n",
                 "speed: {unit: 90%}\nscheduler: {migrate: true, locality: relaxed, restart: 5s}\n"},
           Trial{"sharing", "", "sharing: {kind: parts}\n", "sharing: {kind: mps}\n"},
           Trial{"scheduler.backfill", "", "scheduler: {policies: [afs_l], backfill: false}\n",
                 "scheduler: {policies: [fifo], backfill: false}\n"},
           Trial{"scheduler.locality", "", "scheduler: {policies: [afs_l], locality: relaxed}\n", relaxed},
       }) {
    EXPECT_THAT(warnings(trial.jobs, trial.idle), HasSubstr("W131]: " + trial.key + " has no effect"));
    EXPECT_THAT(warnings(trial.jobs, trial.acts), Not(HasSubstr(trial.key + " has no effect")));
  }
}

TEST(ClusterEffects, PartsNeedJobsThatHaveThem) {
  EXPECT_THAT(warnings(", mig: true", ""), HasSubstr("jobs.mig has no effect"));
  EXPECT_THAT(warnings(", mig: true, part: 50%", ""), Not(HasSubstr("has no effect")));
  EXPECT_THAT(warnings(", part: 50%", "sharing: {kind: parts}\n"), Not(HasSubstr("has no effect")));
  EXPECT_THAT(warnings(", part: 50%, share_gpus: false", ""), HasSubstr("jobs.part has no effect"));
  const auto large = load_cluster_plan_text("week.yaml", "cluster: {hosts: 2}\njobs: {count: 10, gpus: [8], weights: "
                                                         "[1], part: 50%}\nsharing: {kind: mps}\n");
  ASSERT_TRUE(large);
  EXPECT_THAT(render(large->warnings), HasSubstr("jobs.part has no effect: no job is of one GPU"));
  EXPECT_THAT(render(large->warnings), HasSubstr("sharing has no effect: no job is of one GPU"));
}

TEST(ClusterEffects, DemandsAndClassesNeedJobsThatHaveThem) {
  const auto sharing = [](const std::string& gpus, const std::string& keys) {
    const auto plan =
        load_cluster_plan_text("week.yaml", "cluster: {hosts: 2}\njobs: {count: 10, part: 50%, gpus: " + gpus +
                                                "}\nsharing: {" + keys + "}\n");
    return plan ? render(plan->warnings) : "refused: " + render(plan.error());
  };
  const std::string parts = "[1], weights: [1]";
  const std::string both = "[1, 8], weights: [1, 1]";
  EXPECT_THAT(sharing(parts, "kind: antman, busy: 52%"), HasSubstr("sharing.busy has no effect: every job asks for"));
  EXPECT_THAT(sharing(parts, "kind: mps, fill: 60%"), HasSubstr("sharing.fill has no effect"));
  EXPECT_THAT(sharing(both, "kind: mps, busy: 52%, fill: 60%"), Not(HasSubstr("has no effect")));
  for (const std::string keys :
       {"kind: mps, seed: 2", "kind: tgs, seed: 2, opportunistic: 0%", "kind: tgs, seed: 2, opportunistic: 100%"}) {
    EXPECT_THAT(sharing(parts, keys), HasSubstr("sharing.seed has no effect"));
  }
  EXPECT_THAT(sharing(parts, "kind: tgs, seed: 2"), Not(HasSubstr("has no effect")));
}

// Opportunistic jobs stop for guaranteed ones under a policy that stops none otherwise.
TEST(ClusterEffects, RestartsNeedJobsThatStop) {
  const auto restart = [](const std::string& sharing) {
    const auto plan = load_cluster_plan_text("week.yaml",
                                             "cluster: {hosts: 2}\njobs: {count: 10, gpus: [1], weights: [1]}\n"
                                             "scheduler: {restart: 1min}\nsharing: {" +
                                                 sharing + "}\n");
    return plan ? render(plan->warnings) : "refused: " + render(plan.error());
  };
  EXPECT_THAT(restart("kind: antman"), Not(HasSubstr("scheduler.restart has no effect")));
  EXPECT_THAT(restart("kind: antman, opportunistic: 100%"), HasSubstr("scheduler.restart has no effect"));
  EXPECT_THAT(restart("kind: time_slicing"), HasSubstr("scheduler.restart has no effect"));
}

TEST(ClusterEffects, OfAShippedFileAreNamedForWhatIsSetAlone) {
  const auto shipped = load_cluster_plan("shared-week", {});
  ASSERT_TRUE(shipped) << render(shipped.error());
  EXPECT_TRUE(shipped->warnings.all().empty()) << render(shipped->warnings);
  const auto changed = load_cluster_plan("shared-week", {"jobs.most=4"});
  ASSERT_TRUE(changed) << render(changed.error());
  ASSERT_EQ(changed->warnings.all().size(), 1U) << render(changed->warnings);
  EXPECT_THAT(render(changed->warnings), HasSubstr("--set:1: warning[W131]: jobs.most has no effect"));
}

}  // namespace
}  // namespace ringwright::planning::cluster_effects_test
