#include "configs/simulation/shared_run.h"

#include <array>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/scenario/shared_scenario.h"
#include "configs/simulation/job_placement.h"
#include "configs/simulation/step_plan.h"
#include "core/base/random.h"
#include "tests/configs/played.h"
#include "tests/support/own_folder.h"

namespace ringwright::configs::shared_run_test {
namespace {

// Four hosts of two leaves each rail, and one uplink from each leaf for two hosts.
constexpr std::string_view kTwoUnits =
    "cluster: {nodes: 4, node: {preset: dgx-h100}, fabric: {type: rail_optimized, scalable_unit: 2, "
    "leaf: {ports: 4, oversubscription: 2}, spine: {ports: 16}}}\n";

struct Loaded {
  SharedScenario shared;
  std::vector<workload::StepPlan> plans;
  std::vector<JobHosts> hosts;
};

Loaded load_jobs(const std::string& text) {
  auto shared = load_shared_text("jobs.yaml", text);
  if (!shared) throw std::runtime_error(render(shared.error()));
  Loaded loaded{.shared = std::move(*shared), .plans = {}, .hosts = {}};
  for (const Scenario& job : loaded.shared.jobs) loaded.plans.push_back(plan_step(job));
  auto hosts = place_jobs(loaded.shared.machine, loaded.shared.machine.jobs,
                          loaded.shared.machine.cluster.topology->build().fabric);
  if (!hosts) throw std::runtime_error(render(hosts.error()));
  loaded.hosts = std::move(*hosts);
  return loaded;
}

constexpr int kAll = -1;

std::vector<PlacedJob> placed(const Loaded& loaded, int only = kAll) {
  std::vector<PlacedJob> jobs;
  for (std::size_t j = 0; j < loaded.plans.size(); ++j) {
    const JobEntry& entry = loaded.shared.machine.jobs[j];
    jobs.push_back({.graph = loaded.plans[j].graph,
                    .gpus = loaded.hosts[j].gpus,
                    .spec = {.name = entry.name, .start = entry.start},
                    .runs = only == kAll || static_cast<int>(j) == only});
  }
  return jobs;
}

SharedRun run_of(const Loaded& loaded, int only = kAll, const std::vector<StepWindow>& windows = {},
                 FoldMode fold = FoldMode::kFold) {
  auto run = run_jobs(loaded.shared.machine, placed(loaded, only), {.windows = windows, .fold = fold});
  if (!run) throw std::runtime_error(render(run.error()));
  return std::move(*run);
}

std::vector<StepWindow> windows_of(const SharedRun& run) {
  std::vector<StepWindow> windows;
  for (const SharedJobFigures& job : run.jobs) windows.push_back(job.window);
  return windows;
}

// Each job against alone over the same steps: to the picosecond.
void expect_no_slowdown(const Loaded& loaded) {
  const SharedRun together = run_of(loaded);
  for (std::size_t j = 0; j < loaded.plans.size(); ++j) {
    const SharedRun alone = run_of(loaded, static_cast<int>(j), windows_of(together));
    EXPECT_EQ(alone.jobs[j].window, together.jobs[j].window);
    EXPECT_EQ(alone.jobs[j].step.mean, together.jobs[j].step.mean);
    EXPECT_EQ(alone.jobs[j].step.minimum, together.jobs[j].step.minimum);
    EXPECT_EQ(alone.jobs[j].step.maximum, together.jobs[j].step.maximum);
    EXPECT_EQ(alone.jobs[j].time.computing, together.jobs[j].time.computing);
    EXPECT_EQ(alone.jobs[j].time.idle, together.jobs[j].time.idle);
  }
}

std::string two_trainings(std::string_view more_a, std::string_view more_b) {
  return std::string(kTinyModel) + std::string(kTwoUnits) +
         fmt::format(
             "training: {{global_batch: 32}}\nparallel: {{tp: 2, dp: auto}}\n"
             "jobs: [{{name: a, {}}}, {{name: b, {}}}]\n",
             more_a, more_b);
}

TEST(SharedScenario, AJobNamesAShippedScenario) {
  const Loaded loaded = load_jobs(
      "cluster: {nodes: 2, node: {preset: dgx-a100}, fabric: {type: rail_optimized, leaf: {ports: 64}}}\n"
      "jobs: [{name: a, gpus: 8, scenario: gpt2-1.5b-dgx-a100}, {name: b, gpus: 8, scenario: gpt2-1.5b-dgx-a100}]\n");
  ASSERT_EQ(loaded.shared.jobs.size(), 2U);
  EXPECT_EQ(loaded.shared.jobs[1].job.model.name, "gpt2-1.5b");
}

TEST(SharedScenario, AHostThatIsNotThereIsOneMistake) {
  const auto shared = load_shared_text(
      "jobs.yaml", std::string(kTwoUnits) +
                       "model: {preset: llama3-8b}\ntraining: {global_batch: 64}\njobs:\n"
                       "  - {name: a, gpus: 8, hosts: [5]}\n");
  ASSERT_FALSE(shared);
  EXPECT_EQ(shared.error().error_count(), 1U) << render(shared.error());
  EXPECT_THAT(render(shared.error()), testing::HasSubstr("lists a host that is none of the 4"));
}

TEST(SharedRun, JobsOnDisjointLeavesDoNotSlowEachOther) {
  expect_no_slowdown(load_jobs(two_trainings("gpus: 16, hosts: [0, 1]", "gpus: 16, hosts: [2, 3], parallel: {tp: 4}")));
}

TEST(SharedRun, JobsOnTheirOwnGpusOfOneHostDoNotSlowEachOther) {
  expect_no_slowdown(load_jobs(two_trainings("gpus: 4, hosts: [0]", "gpus: 4, hosts: [0], parallel: {pp: 2}")));
}

TEST(SharedRun, JobsThatMeetOnLinksSlowEachOther) {
  const Loaded loaded = load_jobs(two_trainings("gpus: 16, hosts: [0, 2]", "gpus: 16, hosts: [1, 3]"));
  const SharedRun together = run_of(loaded);
  for (const int job : {0, 1}) {
    const SharedRun alone = run_of(loaded, job, windows_of(together));
    const auto j = static_cast<std::size_t>(job);
    EXPECT_GT(together.jobs[j].step.mean, alone.jobs[j].step.mean);
    EXPECT_EQ(together.jobs[j].time.computing, alone.jobs[j].time.computing);
  }
}

TEST(SharedRun, EveryJobEndsTheStepsThatCountWhileAllRun) {
  const Loaded loaded = load_jobs(two_trainings("gpus: 16, training: {global_batch: 64}", "gpus: 16, start: 1ms") +
                                  "simulate: {steps: 5, warmup: 2}\n");
  const SharedRun run = run_of(loaded);
  for (const SharedJobFigures& job : run.jobs) {
    EXPECT_GE(job.window.first, 2);
    EXPECT_GE(job.window.count, 5);
    EXPECT_EQ(job.step.count, job.window.count);
  }
  // The job with half of the batch does nearly twice as many.
  EXPECT_GT(run.jobs[1].window.count, run.jobs[0].window.count);
}

// A message of 256 MB from host to host, again and again.
class SharedUplink : public testing::Test {
 protected:
  Loaded messages(const std::vector<std::string>& hosts, const std::string& bytes) {
    const std::string path = test::own_folder() + "message" + bytes + ".goal";
    std::ofstream(path) << "num_ranks 2\nrank 0 { send " << bytes << "b to 1 }\nrank 1 { recv " << bytes
                        << "b from 0 }\n";
    // NICs as fast as the uplink.
    std::string text(kTwoUnits);
    text.replace(text.find("dgx-h100"), 8, "dgx-h100, nic: {efficiency: 1}");
    text += "jobs:\n";
    for (const std::string& of_job : hosts) {
      text += fmt::format("  - {{name: on {}, gpus: 2, gpus_per_host: 1, hosts: [{}], workload: {{goal: {}}}}}\n",
                          of_job.substr(0, 1), of_job, path);
    }
    return load_jobs(text);
  }
};

// Half of the 400 Gb/s uplink for each: what 256 MB take at 50 GB/s is added, to the picosecond.
TEST_F(SharedUplink, IsSplitMaxMinFairly) {
  const SharedRun both = run_of(messages({"0, 2", "1, 3"}, "256000000"));
  const SharedRun alone = run_of(messages({"0, 2"}, "256000000"));
  EXPECT_EQ(both.jobs[0].step.mean - alone.jobs[0].step.mean, Duration(5'120'000'000));
  EXPECT_EQ(both.jobs[1].step.mean - alone.jobs[0].step.mean, Duration(5'120'000'000));
}

TEST_F(SharedUplink, IsNotSharedByJobsUnderTheirOwnLeaves) {
  const SharedRun both = run_of(messages({"0, 1", "2, 3"}, "256000000"));
  const SharedRun alone = run_of(messages({"0, 1"}, "256000000"));
  EXPECT_EQ(both.jobs[0].step.mean, alone.jobs[0].step.mean);
  EXPECT_EQ(both.jobs[1].step.mean, alone.jobs[0].step.mean);
}

std::string random_jobs(RandomStream& random) {
  constexpr std::array kPlacements{"packed", "spread", "rail_aligned", "random"};
  constexpr std::array kLayouts{"tp: 2, dp: auto", "tp: 4, dp: auto", "tp: 2, pp: 2, dp: auto",
                                "tp: 1, dp: auto, zero: {stage: 1}"};
  constexpr std::array kPolicies{"static", "ecmp", "spray"};
  std::string text = std::string(kTinyModel) + "training: {global_batch: 32}\n" +
                     fmt::format("cluster: {{nodes: 4, node: {{preset: dgx-h100}}, fabric: {{type: rail_optimized, "
                                 "scalable_unit: 2, leaf: {{ports: 4, oversubscription: 2}}, spine: {{ports: 16}}, "
                                 "routing: {{policy: {}}}}}}}\nsimulate: {{steps: 2, seed: {}}}\njobs:\n",
                                 kPolicies[random.next_below(kPolicies.size())], random.next_below(100));
  constexpr std::array kSizes{"gpus: 8", "gpus: 16", "gpus: 8, gpus_per_host: 4", "gpus: 4"};
  for (const char* name : {"a", "b"}) {
    text += fmt::format("  - {{name: {}, {}, placement: {}, start: {}us, parallel: {{{}}}}}\n", name,
                        kSizes[random.next_below(kSizes.size())], kPlacements[random.next_below(kPlacements.size())],
                        random.next_below(500), kLayouts[random.next_below(kLayouts.size())]);
  }
  return text;
}

// Folding is exact with several jobs, to the picosecond.
TEST(SharedRun, FoldedIsTheWhole) {
  RandomStream random(7, "jobs that are folded");
  for (int trial = 0; trial < 25; ++trial) {
    const std::string text = random_jobs(random);
    const Loaded loaded = load_jobs(text);
    const SharedRun folded = run_of(loaded);
    const SharedRun whole = run_of(loaded, kAll, {}, FoldMode::kNoFold);
    EXPECT_EQ(whole.rank_classes, 32U);
    for (std::size_t j = 0; j < 2; ++j) {
      EXPECT_EQ(folded.jobs[j].window, whole.jobs[j].window) << text;
      EXPECT_EQ(folded.jobs[j].step.mean, whole.jobs[j].step.mean) << text;
      EXPECT_EQ(folded.jobs[j].step.maximum, whole.jobs[j].step.maximum) << text;
      EXPECT_EQ(folded.jobs[j].time.computing, whole.jobs[j].time.computing) << text;
      EXPECT_EQ(folded.jobs[j].time.idle, whole.jobs[j].time.idle) << text;
    }
    ASSERT_EQ(folded.link_load.size(), whole.link_load.size());
    for (std::size_t link = 0; link < whole.link_load.size(); ++link) {
      EXPECT_NEAR(folded.link_load[link], whole.link_load[link], 1e-9) << text;
    }
  }
}

// Ten thousand messages of 64 bytes take less than the second for which the other job waits.
TEST_F(SharedUplink, AJobOfManyShortStepsIsRefused) {
  Loaded loaded = messages({"0, 2", "1, 3"}, "64");
  loaded.shared.machine.jobs[1].start = from_seconds(1.0);
  const auto run = run_jobs(loaded.shared.machine, placed(loaded));
  ASSERT_FALSE(run);
  EXPECT_THAT(render(run.error()), testing::HasSubstr("E484"));
}

}  // namespace
}  // namespace ringwright::configs::shared_run_test
