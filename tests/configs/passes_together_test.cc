// Passes of classes that are members of the same rings (tensor parallelism on hashed routes) are exact as one event
// each: every rank, every mixture of activities and every link is as if each message had been simulated.
#include <string>

#include <gtest/gtest.h>

#include "configs/simulation/rehearse.h"
#include "configs/simulation/simulate.h"
#include "core/base/random.h"
#include "tests/configs/played.h"
#include "tests/configs/same_runs.h"

namespace ringwright::configs::passes_together_test {
namespace {

struct Job {
  std::string parallel;
  std::string training;
  std::string routing = "ecmp";
  std::string simulate = "network: flow, seed: 3";
  std::string rest;  // further sections
};

std::string text_of(const Job& job) {
  return std::string(kTinyModel) + "training: {global_batch: 32" + job.training + "}\nparallel: {" + job.parallel +
         "}\ncluster: {nodes: 8, node: {preset: dgx-h100}, fabric: {type: rail_optimized, scalable_unit: 2, "
         "leaf: {ports: 4}, spine: {ports: 16}, routing: {policy: " +
         job.routing + "}}}\nsimulate: {" + job.simulate + "}\n" + job.rest;
}

// The factor by which the number of events shrinks.
double expect_exact(const Job& job) { return expect_same_passes(text_of(job)); }

TEST(PassesTogether, AreExactAndFewerEvents) {
  EXPECT_GT(expect_exact({.parallel = "tp: 8, pp: 4, dp: auto, sequence_parallel: true"}), 2.0);
  EXPECT_GT(expect_exact({.parallel = "tp: 8, pp: 2, dp: auto"}), 2.0);
  EXPECT_GT(expect_exact({.parallel = "tp: 8, pp: 4, dp: auto, sequence_parallel: true", .routing = "d_mod_k"}), 1.0);
}

// Rings whose members are all different go together on routes of any kind.
TEST(PassesTogether, AreExactWhereEveryRankIsSimulated) {
  const Scenario scenario = load(text_of({.parallel = "tp: 8, pp: 4, dp: auto", .routing = "static"}));
  const Played by_task = play(scenario, FoldMode::kNoFold, SegmentPlay::kByTask);
  const Played at_once = play(scenario, FoldMode::kNoFold, SegmentPlay::kAtOnce);
  expect_equal(at_once, by_task, "every rank");
  EXPECT_LT(2 * at_once.events, by_task.events);
}

TEST(PassesTogether, BehindHostsThatAreLate) {
  for (const char* parallel : {"tp: 8, pp: 2, dp: auto", "tp: 8, pp: 4, dp: auto, overlap_p2p_comm: true",
                               "tp: 4, pp: 4, dp: auto, schedule: zb-h1"}) {
    expect_exact({.parallel = parallel, .rest = "compute: {model: calibrated}\n"});
    expect_exact({.parallel = parallel,
                  .simulate = "network: flow, seed: 3, steps: 4, warmup: 1",
                  .rest = "compute: {model: calibrated}\nfaults:\n  - {node: 1, compute_scale: 0.7}\n"});
  }
}

TEST(PassesTogether, OfLayoutsAtRandom) {
  RandomStream random(29, "passes together");
  const auto draw = [&random](std::initializer_list<const char*> choices) {
    return std::string(choices.begin()[random.next_below(choices.size())]);
  };
  int fewer = 0;
  for (int round = 0; round < 24; ++round) {
    const std::string sizes = draw({"tp: 8, pp: 2", "tp: 8, pp: 4", "tp: 8", "tp: 4, pp: 2", "tp: 4, cp: 2, pp: 2"});
    const std::string strategy =
        draw({"", ", overlap_p2p_comm: true", ", zero: {stage: 1}",
              ", zero: {stage: 1, overlap_grad_reduce: true, overlap_param_gather: true, bucket: 256KiB}"});
    const Job job{.parallel = sizes + ", dp: auto" + strategy,
                  .training = draw({"", ", recompute: full"}),
                  .routing = draw({"ecmp", "d_mod_k", "static"}),
                  .simulate = draw({"network: flow, seed: 3", "network: flow, seed: 5, steps: 3"}),
                  .rest = draw({"", "faults:\n  - {node: 3, compute_scale: 0.9}\n", "compute: {model: calibrated}\n"})};
    if (expect_exact(job) > 1.5) ++fewer;
  }
  EXPECT_GT(fewer, 4);
}

// Cycles of pipelines may be left out as well: the report is that of a run without any shortcut.
TEST(PassesTogether, LeaveTheReportAsItIs) {
  const std::string text = text_of({.parallel = "tp: 8, pp: 4, dp: auto, sequence_parallel: true",
                                    .training = ", micro_batch: 1",
                                    .rest = "compute: {model: calibrated}\n"});
  expect_same_report(text, {"training.global_batch=128"});
}

}  // namespace
}  // namespace ringwright::configs::passes_together_test
