// Passes simulated as one event are exact: every rank, every mixture of activities and every link is as if each kernel
// and each collective had been simulated.
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "configs/simulation/simulate.h"
#include "core/base/random.h"
#include "tests/configs/played.h"
#include "tests/configs/same_runs.h"
#include "workload/builtin.h"

namespace ringwright::configs::segments_at_once_test {
namespace {

constexpr const char* kCluster =
    "{nodes: 4, node: {preset: dgx-h100}, fabric: {type: rail_optimized, scalable_unit: 2, leaf: {ports: 4}, "
    "spine: {ports: 16}}}";

struct Job {
  std::string training;
  std::string parallel;
  std::string simulate = "network: alpha_beta";
  std::string rest;  // further sections
  std::string collectives = "model: closed_form";
};

std::string text_of(const Job& job) {
  return std::string(kTinyModel) + "training: {global_batch: 32" + job.training + "}\nparallel: {" + job.parallel +
         "}\ncluster: " + kCluster + "\nsimulate: {" + job.simulate + "}\ncollectives: {" + job.collectives + "}\n" +
         job.rest;
}

// The factor by which the number of events shrinks.
double expect_exact(const Job& job) { return expect_same_passes(text_of(job)); }

TEST(SegmentsAtOnce, AreExactAndFewerEvents) {
  EXPECT_GT(expect_exact({"", "tp: 8, pp: 2, dp: auto, sequence_parallel: true"}), 5.0);
  EXPECT_GT(expect_exact({"", "tp: 8, pp: 2, dp: auto, sequence_parallel: true", "network: flow"}), 5.0);
}

// The rehearsal of calls pays the same for messages as the run.
TEST(SegmentsAtOnce, AreExactWhereMessagesCostTheirSender) {
  Job job{"", "tp: 2, pp: 2, dp: auto, sequence_parallel: true", "network: flow"};
  job.collectives = "model: steps, step_costs: {message: 300ns, eager: 64KiB, rendezvous: 1us, reduce_rate: 20GB/s}";
  expect_exact(job);
}

// The same where collectives are messages that share no links.
double expect_exact_in_steps(Job job) {
  job.collectives = "model: steps, overhead: none";
  return expect_exact(job);
}

TEST(SegmentsAtOnce, AreExactWhereCallsCostWhatKernelsTake) {
  for (const char* network : {"network: flow", "network: flow, steps: 4, warmup: 2", "network: alpha_beta"}) {
    EXPECT_GT(expect_exact({"", "tp: 8, pp: 2, dp: auto", network, "", "model: steps, overhead: kernels"}), 2.5)
        << network;
  }
}

TEST(SegmentsAtOnce, AreExactAndFewerEventsInSteps) {
  // Eight ranks of a host are a group; pipeline and replicas use other links to leave the host.
  for (const char* parallel : {"tp: 8, pp: 2, dp: auto", "tp: 8, pp: 4, dp: auto, sequence_parallel: true",
                               "tp: 8, pp: 2, dp: auto, zero: {stage: 1, overlap_grad_reduce: true, bucket: 256KiB}"}) {
    for (const char* network : {"network: flow", "network: flow, steps: 4, warmup: 2", "network: alpha_beta"}) {
      EXPECT_GT(expect_exact_in_steps({"", parallel, network}), 3.0) << parallel << ", " << network;
    }
  }
}

TEST(SegmentsAtOnce, UnderEverySchedule) {
  for (const workload::ScheduleEntry& schedule : workload::schedules()) {
    std::string parallel = fmt::format("tp: 4, pp: 4, dp: auto, schedule: {}", schedule.name);
    if (schedule.name == "interleaved-1f1b") parallel += ", virtual_stages: 2";
    expect_exact({"", parallel});
    expect_exact({"", parallel + ", sequence_parallel: true, overlap_p2p_comm: true", "network: flow"});
    expect_exact_in_steps({"", parallel, "network: flow"});
  }
}

TEST(SegmentsAtOnce, WithTheStrategiesAroundThem) {
  for (const char* parallel :
       {"tp: 4, pp: 4, zero: {stage: 1, overlap_grad_reduce: true, overlap_param_gather: true, bucket: 1MiB}",
        "tp: 2, pp: 2, zero: {stage: 1}", "tp: 2, pp: 2, zero: {stage: 2}", "tp: 8, zero: {stage: 3}",
        "tp: 4, fsdp: {}", "tp: 2, cp: 4, pp: 2", "tp: 2, cp: 2, cp_comm_type: a2a",
        "tp: 4, pp: 2, cpu_offloading_num_layers: 2"}) {
    for (const char* training : {"", ", recompute: full"}) {
      expect_exact({training, std::string(parallel) + ", dp: auto", "network: flow"});
      expect_exact_in_steps({training, std::string(parallel) + ", dp: auto", "network: flow"});
      expect_exact({training, std::string(parallel) + ", dp: auto"});
    }
  }
}

// A host that issues kernels one by one is late where kernels are short, as those of the small model are.
TEST(SegmentsAtOnce, BehindAHostThatIsLate) {
  for (const char* parallel :
       {"tp: 8, pp: 2", "tp: 4, pp: 4, overlap_p2p_comm: true", "tp: 2, pp: 4, schedule: zb-h1"}) {
    expect_exact({"", std::string(parallel) + ", dp: auto", "network: alpha_beta", "compute: {model: calibrated}\n"});
    for (const char* model : {"model: closed_form", "model: steps"}) {
      expect_exact({"", std::string(parallel) + ", dp: auto", "network: flow, steps: 5",
                    "compute: {model: calibrated}\n", model});
    }
  }
}

TEST(SegmentsAtOnce, OverSeveralStepsAndWithSlowHosts) {
  expect_exact({"", "tp: 4, pp: 2, dp: auto", "network: flow, steps: 4, warmup: 2"});
  expect_exact(
      {"", "tp: 4, pp: 4, dp: auto", "network: flow, steps: 2", "faults:\n  - {node: 1, compute_scale: 0.7}\n"});
  expect_exact_in_steps(
      {"", "tp: 8, pp: 2, dp: auto", "network: flow, steps: 3", "faults:\n  - {node: 1, compute_scale: 0.7}\n"});
}

TEST(SegmentsAtOnce, OfLayoutsAtRandom) {
  RandomStream random(11, "segments at once");
  const auto draw = [&random](std::initializer_list<const char*> choices) {
    return std::string(choices.begin()[random.next_below(choices.size())]);
  };
  int at_once_in_steps = 0;
  for (int round = 0; round < 24; ++round) {
    const std::string sizes =
        draw({"tp: 2, pp: 2", "tp: 1, pp: 4", "tp: 4, pp: 2", "tp: 2, pp: 4", "tp: 8", "tp: 8, pp: 4"});
    const std::string talk = draw({"", ", overlap_p2p_comm: true", ", scatter_gather_p2p: true"});
    const std::string zero = draw({"", ", zero: {stage: 1}",
                                   ", zero: {stage: 1, overlap_grad_reduce: true, "
                                   "overlap_param_gather: true, bucket: 256KiB}"});
    const std::string recompute = draw({"", ", recompute: full", ", recompute: selective"});
    const std::string network = draw({"network: flow", "network: alpha_beta", "network: flow, steps: 3"});
    expect_exact({recompute, sizes + ", dp: auto" + talk + zero, network});
    if (expect_exact_in_steps({recompute, sizes + ", dp: auto" + talk + zero, network}) > 1.5) ++at_once_in_steps;
  }
  EXPECT_GT(at_once_in_steps, 2);  // groups of eight fill their hosts; smaller ones share links with the pipeline
}

// Ranks whose transfers cost the same take the same times, whatever else their links carry.
TEST(SegmentsAtOnce, OfRanksThatAreFoldedByTimes) {
  for (const char* parallel : {"tp: 8, pp: 2, dp: auto", "tp: 4, pp: 4, dp: auto", "tp: 2, pp: 4, dp: auto"}) {
    const Scenario scenario = load(text_of({"", parallel}));
    const Played whole = play(scenario, FoldMode::kNoFold);
    const auto simulation = assemble(scenario, FoldMode::kTimesOnly);
    const PlayedPlan times = play_plan(scenario, *simulation);
    const RankClasses& classes = simulation->folding().ranks;
    EXPECT_LE(classes.count(), assemble(scenario)->folding().ranks.count());
    for (std::size_t rank = 0; rank < whole.finished_at.size(); ++rank) {
      const std::size_t c = classes.class_of[rank].index();
      EXPECT_EQ(times.run.record.finished_at[c], whole.finished_at[rank]) << parallel;
      EXPECT_EQ(times.run.record.time_in[c], whole.record.time_in[rank]) << parallel;
      EXPECT_EQ(times.run.record.sent[c], whole.record.sent[rank]) << parallel;
    }
  }
}

}  // namespace
}  // namespace ringwright::configs::segments_at_once_test
