// Passes within which ranks of one class send each other messages (the overlap of tensor parallelism with GEMMs, ring
// attention) are exact as one event each: every time, mixture of activities and link is as if each message had been
// simulated.
#include <string>

#include <gtest/gtest.h>

#include "core/base/random.h"
#include "tests/configs/played.h"
#include "tests/configs/same_runs.h"

namespace ringwright::configs::passes_with_exchanges_test {
namespace {

struct Job {
  std::string parallel;
  std::string training;
  std::string simulate = "network: flow, seed: 3";
  std::string rest = "compute: {host_issue: 0us}\n";  // further sections
};

std::string text_of(const Job& job) {
  return std::string(kTinyModel) + "training: {global_batch: 32" + job.training +
         "}\nparallel: {dp: auto, sequence_parallel: true, tp_comm_overlap: true, " + job.parallel +
         "}\ncluster: {nodes: 4, node: {preset: dgx-h100}, fabric: {type: rail_optimized, scalable_unit: 2, "
         "leaf: {ports: 4}, spine: {ports: 16}}}\nsimulate: {" + job.simulate + "}\n" + job.rest;
}

double expect_exact(const Job& job) { return expect_same_passes(text_of(job)); }

TEST(PassesWithExchanges, AreExactAndFewerEvents) {
  EXPECT_GT(expect_exact({.parallel = "tp: 8, pp: 2"}), 5.0);
  EXPECT_GT(expect_exact({.parallel = "tp: 8, pp: 4, schedule: interleaved-1f1b, virtual_stages: 2"}), 5.0);
  expect_exact({.parallel = "tp: 8"});
}

// Hosts wait for messages of the pipeline only, and may be late with what a pass sends. Kernels await what it receives.
TEST(PassesWithExchanges, BehindHostsThatAreLate) {
  for (const char* parallel :
       {"tp: 8, pp: 2", "tp: 8, pp: 4, overlap_p2p_comm: true", "tp: 4, pp: 4, schedule: zb-h1"}) {
    const Job job{.parallel = parallel, .rest = "compute: {model: calibrated}\n"};
    EXPECT_GT(expect_exact(job), 2.0);
    for (const char* issue : {"300us", "30us", "3us"}) {
      expect_exact({.parallel = parallel,
                    .simulate = "network: flow, seed: 3, steps: 3, warmup: 1",
                    .rest = "compute: {model: calibrated, host_issue: " + std::string(issue) +
                            "}\nfaults:\n  - {node: 1, compute_scale: 0.7}\n"});
    }
  }
}

TEST(PassesWithExchanges, OfLayoutsAtRandom) {
  RandomStream random(31, "passes with exchanges");
  const auto draw = [&random](std::initializer_list<const char*> choices) {
    return std::string(choices.begin()[random.next_below(choices.size())]);
  };
  int fewer = 0;
  for (int round = 0; round < 32; ++round) {
    const std::string sizes =
        draw({"tp: 8, pp: 2", "tp: 8, pp: 4", "tp: 8", "tp: 4, pp: 2", "tp: 4, cp: 2, pp: 2", "tp: 2, cp: 4"});
    const std::string strategy =
        draw({"", ", overlap_p2p_comm: true", ", zero: {stage: 1}",
              ", zero: {stage: 1, overlap_grad_reduce: true, overlap_param_gather: true, bucket: 256KiB}"});
    const Job job{.parallel = sizes + strategy,
                  .training = draw({"", ", recompute: full", ", recompute: selective"}),
                  .simulate = draw({"network: flow, seed: 3", "network: flow, seed: 5, steps: 3"}),
                  .rest = draw({"compute: {host_issue: 0us}\n", "compute: {host_issue: 100ns}\n",
                                "compute: {host_issue: 0us}\nfaults:\n  - {node: 3, compute_scale: 0.9}\n",
                                "compute: {model: calibrated, host_issue: 1us}\n"})};
    if (expect_exact(job) > 2.0) ++fewer;
  }
  EXPECT_GT(fewer, 10);
}

// Cycles of pipelines may be left out as well: the report is that of a run without any shortcut.
TEST(PassesWithExchanges, LeaveTheReportAsItIs) {
  const std::string text =
      text_of({.parallel = "tp: 8, pp: 4", .training = ", micro_batch: 1", .rest = "compute: {model: calibrated}\n"});
  expect_same_report(text, {"training.global_batch=128"});
}

}  // namespace
}  // namespace ringwright::configs::passes_with_exchanges_test
