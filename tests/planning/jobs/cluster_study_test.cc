#include "planning/jobs/cluster_study.h"

#include <fstream>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/configs/played.h"
#include "tests/support/own_folder.h"

namespace ringwright::planning::cluster_study_test {
namespace {

using testing::HasSubstr;

ClusterPlan plan_of(const std::string& text) {
  auto plan = load_cluster_plan_text("cluster.yaml", text);
  if (!plan) throw std::runtime_error(render(plan.error()));
  return std::move(*plan);
}

std::string mistake(const std::string& text) {
  const auto plan = load_cluster_plan_text("cluster.yaml", text);
  return plan ? "none" : render(plan.error());
}

const std::string kBusy =
    "name: busy\ncluster: {hosts: 16, hosts_per_unit: 4}\n"
    "jobs: {count: 1200, span: 48h, median: 10min, gpus: [1, 2, 4, 8, 16], weights: [5, 2, 2, 4, 1], least: 0.5, "
    "most: 2}\n"
    "speed: {scaling: 0.9, unit: 95%, fabric: 80%}\n";

// Jeon et al., ATC'19: relaxed locality shortens queueing and lowers what GPUs achieve.
TEST(ClusterStudy, RelaxedLocalityWaitsLessAndAchievesLess) {
  const auto strict = study_cluster(plan_of(kBusy + "scheduler: {locality: strict}\n"));
  const auto relaxed = study_cluster(plan_of(kBusy + "scheduler: {locality: relaxed}\n"));
  ASSERT_TRUE(strict && relaxed);
  const PolicyResult& tight = strict->policies.front();
  const PolicyResult& loose = relaxed->policies.front();
  EXPECT_LT(loose.waiting.mean, tight.waiting.mean);
  EXPECT_LT(loose.totals.productive / loose.totals.allocated, tight.totals.productive / tight.totals.allocated);
  EXPECT_GT(loose.jobs_at[2], tight.jobs_at[2]);
}

TEST(ClusterStudy, ShippedClustersHaveNames) {
  const auto plan = load_cluster_plan("shared-week", {"jobs.count=50", "jobs.part=50%"});
  ASSERT_TRUE(plan) << render(plan.error());
  EXPECT_EQ(plan->name, "shared-week");
  EXPECT_EQ(plan->jobs.size(), 50U);
  for (const ClusterJob& job : plan->jobs) EXPECT_EQ(job.share, job.gpus == 1 ? kWholeGpu / 2 : kWholeGpu);
  EXPECT_FALSE(load_cluster_plan("no-such-week", {}));
}

// AntMan (OSDI 2020): opportunistic jobs on the same GPUs keep kernels running more of the time, and guaranteed jobs do
// not end later.
TEST(ClusterStudy, AntManFillsWhatGuaranteedJobsLeave) {
  const std::string jobs =
      "cluster: {hosts: 2}\n"
      "jobs: {count: 1500, span: 24h, median: 10min, longest: 2h, gpus: [1, 2], weights: [9, 1]}\n";
  const auto alone = study_cluster(plan_of(jobs + "sharing: {kind: tgs, busy: 52%, opportunistic: 0%}\n"));
  const auto shared = study_cluster(plan_of(jobs + "sharing: {kind: antman, busy: 52%, opportunistic: 50%}\n"));
  ASSERT_TRUE(alone && shared);
  EXPECT_GT(shared->policies.front().computing(), alone->policies.front().computing() * 1.1);
  EXPECT_LE(shared->policies.front().guaranteed.mean, alone->policies.front().completion.mean);
  EXPECT_THAT(render_cluster_text(*shared), HasSubstr("kernels run"));
  EXPECT_THAT(render_cluster_text(*shared), HasSubstr("opportunistic"));
  EXPECT_THAT(render_cluster_json(*shared), HasSubstr("\"opportunistic_s\""));
}

TEST(ClusterStudy, SharingSettingsBelongToTheirKind) {
  const std::string cluster = "cluster: {hosts: 1}\njobs: {count: 4, gpus: [1], weights: [1]";
  EXPECT_THAT(mistake(cluster + "}\nsharing: {kind: time_slicing, fill: 50%}\n"), HasSubstr("needs 'kind: mps'"));
  EXPECT_THAT(mistake(cluster + "}\nsharing: {kind: mps, opportunistic: 50%}\n"), HasSubstr("needs 'kind: antman'"));
  EXPECT_THAT(mistake(cluster + ", mig: true}\nsharing: {kind: mps}\n"), HasSubstr("both divide GPUs"));
  EXPECT_THAT(mistake(cluster + ", share_gpus: false}\nsharing: {kind: mps}\n"), HasSubstr("share_gpus: true"));
  EXPECT_THAT(mistake(cluster + "}\nsharing: {kind: parts, per_gpu: 2}\n"), HasSubstr("unknown key"));
}

// Half of a GPU is four of seven slices, of which a GPU holds one; 40 % are three, of which it holds two.
TEST(ClusterStudy, MigInstancesRoundPartsUp) {
  const auto peak = [](const std::string& part, const std::string& mig) {
    return study_cluster(plan_of("cluster: {hosts: 4}\njobs: {count: 16, span: 1s, median: 100s, sigma: 0, gpus: [1], "
                                 "weights: [1], part: " +
                                 part + mig + "}\n"))
        ->policies.front()
        .totals.peak_gpus;
  };
  EXPECT_EQ(peak("50%", ""), 8);
  EXPECT_EQ(peak("50%", ", mig: true"), 16);
  EXPECT_EQ(peak("40%", ", mig: true"), 8);
  EXPECT_EQ(peak("10%", ", mig: true"), 3);  // seven on a GPU
  EXPECT_THAT(mistake("cluster: {hosts: 1}\njobs: {share_gpus: false, mig: true}\n"), HasSubstr("share_gpus: true"));
}

TEST(ClusterStudy, DoesNotDependOnThreads) {
  const ClusterPlan plan = plan_of(kBusy + "scheduler: {policies: [fifo, srtf, tiresias, elastic_srjf, afs_l]}\n");
  EXPECT_EQ(render_cluster_json(*study_cluster(plan, {.threads = 1})),
            render_cluster_json(*study_cluster(plan, {.threads = 2})));
}

TEST(ClusterStudy, PrintsARowForEachPolicy) {
  const auto study = study_cluster(plan_of(kBusy + "scheduler: {policies: [fifo, sjf]}\n"));
  const std::string text = render_cluster_text(*study);
  for (const char* part : {"busy: 1,200 jobs on 128 GPUs in 16 hosts", "fifo", "sjf", "fragmented", "completion"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(ClusterStudy, ReadsALog) {
  const std::string folder = test::own_folder();
  std::ofstream(folder + "log.csv") << "submit_s,gpus,run_s\n0,8,100\n10,0.5,50\n10,400,50\n";
  const auto study = study_cluster(plan_of("cluster: {hosts: 1}\njobs: {form: csv, log: " + folder + "log.csv}\n"));
  ASSERT_TRUE(study);
  EXPECT_EQ(study->jobs, 2U);
  EXPECT_EQ(study->too_large, 1U);
  EXPECT_DOUBLE_EQ(study->policies.front().makespan, 150.0);
}

// Steps of a type that communicates little are hardly slower over units, and twice the GPUs nearly double the rate.
TEST(ClusterStudy, TakesSpeedsFromSimulatedSteps) {
  const std::string folder = test::own_folder();
  std::ofstream(folder + "types.yaml")
      << configs::kTinyModel
      << "training: {global_batch: 64}\nparallel: {tp: 1, dp: auto}\n"
         "cluster: {nodes: 4, node: {preset: dgx-h100}, fabric: {type: rail_optimized, scalable_unit: 2}}\n"
         "jobs: [{name: small, gpus: 8}]\n";
  const auto study = study_cluster(
      plan_of("cluster: {hosts: 4, hosts_per_unit: 2}\nspeed: {machine: " + folder +
              "types.yaml}\njobs: {count: 20, gpus: [4, 8], weights: [1, 1], median: 100s, sigma: 0, span: 1h}\n"));
  ASSERT_TRUE(study) << render(study.error());
  EXPECT_DOUBLE_EQ(study->policies.front().completion.p50, 100.0);
  // "In one host" means other GPUs there.
  const auto other = study_cluster(plan_of("cluster: {hosts: 4, gpus_per_host: 4}\nspeed: {machine: " + folder +
                                           "types.yaml}\njobs: {count: 2, gpus: [4], weights: [1]}\n"));
  ASSERT_FALSE(other);
  EXPECT_THAT(render(other.error()), HasSubstr("E486]: 'cluster.gpus_per_host' is 4, and hosts of 'speed.machine'"));
}

// Speeds on more GPUs than the machine has are not known; a policy that keeps sizes does not use them.
TEST(ClusterStudy, AMachineHoldsTheLargestJob) {
  const std::string folder = test::own_folder();
  std::ofstream(folder + "types.yaml")
      << configs::kTinyModel
      << "training: {global_batch: 48}\nparallel: {tp: 1, dp: auto}\n"
         "cluster: {nodes: 3, node: {preset: dgx-h100}, fabric: {type: rail_optimized}}\n"
         "jobs: [{name: small, gpus: 8}]\n";
  const auto study = [&](const std::string& jobs, const std::string& policy) {
    return study_cluster(plan_of("cluster: {hosts: 4}\nspeed: {machine: " + folder + "types.yaml}\njobs: {count: 1, " +
                                 "weights: [1], median: 100s, sigma: 0, span: 1s, " + jobs +
                                 "}\nscheduler: {policies: [" + policy + "], restart: 0s}\n"));
  };
  const auto asked = study("gpus: [32]", "fifo");
  ASSERT_FALSE(asked);
  EXPECT_THAT(render(asked.error()), HasSubstr("E486]: jobs run on up to 32 GPUs, and 'speed.machine' has 24"));
  EXPECT_FALSE(study("gpus: [16], most: 2", "elastic_fifo"));
  EXPECT_TRUE(study("gpus: [16], most: 2", "fifo"));
  // 24 is no power of two: its own steps, and not those of 16 GPUs.
  const auto same = study("gpus: [16]", "elastic_fifo");
  const auto grown = study("gpus: [16], most: 1.5", "elastic_fifo");
  ASSERT_TRUE(same && grown);
  EXPECT_LT(grown->policies.front().completion.mean, 0.95 * same->policies.front().completion.mean);
}

// Where every job waits for the GPUs that it asks for at their best locality, no step is needed: this one has no
// layout.
TEST(ClusterStudy, SimulatesNoStepsForPoliciesThatNeedNone) {
  const std::string folder = test::own_folder();
  std::ofstream(folder + "types.yaml")
      << configs::kTinyModel
      << "training: {global_batch: 48}\nparallel: {tp: 3, dp: auto}\n"
         "cluster: {nodes: 2, node: {preset: dgx-h100}, fabric: {type: rail_optimized}}\njobs: [{name: a, gpus: 8}]\n";
  const auto study = [&](const std::string& scheduler) {
    return study_cluster(plan_of("cluster: {hosts: 2}\nspeed: {machine: " + folder +
                                 "types.yaml}\njobs: {count: 3, gpus: [8], weights: [1], median: 100s, sigma: 0, span: "
                                 "1s}\nscheduler: {" +
                                 scheduler + "}\n"));
  };
  const auto strict = study("policies: [fifo, srtf]");
  ASSERT_TRUE(strict) << render(strict.error());
  EXPECT_DOUBLE_EQ(strict->policies.front().completion.p50, 100.0);
  EXPECT_FALSE(study("policies: [fifo], locality: relaxed"));
  EXPECT_FALSE(study("policies: [fifo, elastic_fifo]"));
}

// A machine of one host has no steps over hosts; without a speed there a job would never end.
TEST(ClusterStudy, AMachineHasEveryPlaceThatJobsComeTo) {
  const std::string folder = test::own_folder();
  const auto machine = [&](const std::string& cluster) {
    std::ofstream(folder + "types.yaml") << configs::kTinyModel
                                         << "training: {global_batch: 48}\nparallel: {tp: 1, dp: auto}\ncluster: {" +
                                                cluster + "}\njobs: [{name: small, gpus: 8}]\n";
  };
  std::ofstream(folder + "log.csv") << "submit_s,gpus,run_s\n0,5,100\n0,5,1000\n50,6,100\n";
  const auto study = [&](const std::string& hosts, const std::string& locality) {
    return study_cluster(plan_of("cluster: {hosts: 2" + hosts + "}\njobs: {form: csv, log: " + folder +
                                 "log.csv}\nspeed: {machine: " + folder +
                                 "types.yaml}\nscheduler: {locality: " + locality + "}\n"));
  };
  machine("nodes: 1, node: {preset: dgx-h100}, fabric: {type: single_node}");
  EXPECT_TRUE(study("", "strict"));
  const auto wide = study("", "relaxed");
  ASSERT_FALSE(wide);
  EXPECT_THAT(render(wide.error()), HasSubstr("job 'small' of the machine can be simulated at no size over the hosts "
                                              "of a unit"));
  machine("nodes: 2, node: {preset: dgx-h100}, fabric: {type: rail_optimized, scalable_unit: 2}");
  const auto enough = study("", "relaxed");
  ASSERT_TRUE(enough);
  EXPECT_GT(enough->policies.front().completion.p50, 99.0);
  const auto units = study(", hosts_per_unit: 1", "relaxed");
  ASSERT_FALSE(units);
  EXPECT_THAT(render(units.error()), HasSubstr("at no size over units: its hosts are one unit"));
  // A unit of the cluster is one of the machine: two hosts here are two units there.
  machine("nodes: 4, node: {preset: dgx-h100}, fabric: {type: rail_optimized, scalable_unit: 1}");
  const auto smaller = study("", "relaxed");
  ASSERT_FALSE(smaller);
  EXPECT_THAT(render(smaller.error()),
              HasSubstr("E486]: 'cluster.hosts_per_unit' is 32, and a unit of 'speed.machine' has 1 host"));
  EXPECT_TRUE(study(", hosts_per_unit: 1", "relaxed"));
}

// A large batch scales from 1 to 8 GPUs, and one of 8 samples hardly: the elastic jobs of a log end accordingly.
TEST(ClusterStudy, JobsOfALogHaveTheirTypesOfTheMachine) {
  const std::string folder = test::own_folder();
  std::ofstream(folder + "types.yaml")
      << "model: {num_layers: 8, hidden_size: 1024, num_attention_heads: 8, ffn_hidden_size: 4096, vocab_size: 8000, "
         "seq_length: 1024}\nparallel: {dp: auto}\ntraining: {global_batch: 8}\n"
         "cluster: {nodes: 1, node: {preset: dgx-h100}, fabric: {type: single_node}}\n"
         "jobs: [{name: small, gpus: 8}, {name: large, gpus: 8, training: {global_batch: 256}}]\n";
  const auto study = [&](const std::string& columns, const std::string& type) {
    std::ofstream(folder + "log.csv") << columns << "\n0,1,100000" << type << "\n";
    return study_cluster(plan_of("cluster: {hosts: 1}\njobs: {form: csv, log: " + folder +
                                 "log.csv, most: 8}\nspeed: {machine: " + folder +
                                 "types.yaml}\nscheduler: {policies: [elastic_fifo]}\n"));
  };
  const auto small = study("submit_s,gpus,run_s,type", ",small");
  const auto large = study("submit_s,gpus,run_s,type", ",large");
  ASSERT_TRUE(small && large);
  EXPECT_LT(large->policies[0].completion.mean, 0.9 * small->policies[0].completion.mean);
  const auto other = study("submit_s,gpus,run_s,type", ",huge");
  ASSERT_FALSE(other);
  EXPECT_THAT(render(other.error()),
              HasSubstr("the log has jobs of type 'huge', and 'speed.machine' has the jobs small, large"));
  const auto none = study("submit_s,gpus,run_s", "");
  ASSERT_FALSE(none);
  EXPECT_THAT(render(none.error()), HasSubstr("the log gives its jobs no type"));
}

TEST(ClusterFile, SaysWhatIsWrong) {
  const std::string cluster = "cluster: {hosts: 2}\n";
  EXPECT_THAT(mistake("jobs: {}\n"), HasSubstr("cluster.hosts"));
  EXPECT_THAT(mistake(cluster), HasSubstr("'jobs.gpus' has 64 GPUs, and the cluster 16"));
  EXPECT_THAT(mistake(cluster + "jobs: {gpus: [1], weights: [1, 2]}\n"), HasSubstr("lists of one length"));
  EXPECT_THAT(mistake(cluster + "jobs: {gpus: [1], weights: [1]}\nscheduler: {policies: [lottery]}\n"),
              HasSubstr("'lottery' is no policy"));
  EXPECT_THAT(mistake(cluster + "jobs: {gpus: [1], weights: [1]}\nscheduler: {relax_after: 5s}\n"),
              HasSubstr("locality: relaxed"));
  EXPECT_THAT(mistake(cluster + "jobs: {log: none.csv, form: csv}\n"), HasSubstr("none.csv"));
  EXPECT_THAT(mistake(cluster + "jobs: {gpus: [1], weights: [1]}\nspeed: {machine: m.yaml, scaling: 0.5}\n"),
              HasSubstr("both say how fast"));
}

}  // namespace
}  // namespace ringwright::planning::cluster_study_test
