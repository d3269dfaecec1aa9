// Collectives as kernels run them, computed at once while they are alone on their links, and passes of them as one
// event, are exact: every rank, every mixture of activities, every call and every link is as if each chunk had been
// simulated.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "configs/simulation/lone_network.h"
#include "configs/simulation/rehearse.h"
#include "configs/simulation/simulate.h"
#include "core/base/random.h"
#include "tests/configs/played.h"
#include "tests/configs/same_runs.h"

namespace ringwright::configs::kernels_at_once_test {
namespace {


struct Job {
  std::string parallel;
  std::string training;
  std::string routing = "static";
  std::string simulate = "network: flow, seed: 3";
  std::string rest;  // further sections
  std::string host = "dgx-a100";
};

std::string text_of(const Job& job) {
  return std::string(kTinyModel) + "training: {global_batch: 32" + job.training + "}\nparallel: {" + job.parallel +
         "}\ncluster:\n  nodes: 8\n  node: {preset: " + job.host +
         "}\n  fabric: {type: rail_optimized, scalable_unit: 2, leaf: {ports: 4}, spine: {ports: 16}, " +
         "routing: {policy: " + job.routing + "}}\nsimulate: {" + job.simulate +
         "}\ncollectives: {model: chunks}\n" + job.rest;
}

// The factor by which the number of events shrinks.
double expect_exact(const Job& job, FoldMode fold = FoldMode::kFold) {
  const std::string text = text_of(job);
  return expect_same_runs(text, fold);
}

TEST(KernelsAtOnce, AreExactAndFewerEvents) {
  EXPECT_GT(expect_exact({.parallel = "tp: 8, pp: 4, dp: auto, sequence_parallel: true"}), 3.0);
  EXPECT_GT(expect_exact({.parallel = "tp: 8, pp: 2, dp: auto"}), 3.0);
  EXPECT_GT(expect_exact({.parallel = "tp: 8, pp: 8", .training = ", recompute: full"}), 3.0);
  EXPECT_GT(expect_exact({.parallel = "tp: 8, pp: 4, dp: auto", .host = "dgx-h100"}), 3.0);
}

// Every member of a tensor-parallel group is a class of its own, and so is every replica.
TEST(KernelsAtOnce, AreExactWhereEveryRankIsSimulated) {
  EXPECT_GT(expect_exact({.parallel = "tp: 8, pp: 4, dp: auto"}, FoldMode::kNoFold), 3.0);
  expect_exact({.parallel = "tp: 8, pp: 4, dp: auto", .routing = "ecmp"});
}

// Messages of pipelines, the gradients of the embedding and those of replicas meet on links.
TEST(KernelsAtOnce, AreExactWhereTheyClash) {
  for (const char* routing : {"static", "d_mod_k", "ecmp"}) {
    expect_exact({.parallel = "tp: 2, pp: 4, dp: auto, zero: {stage: 1, overlap_grad_reduce: true, bucket: 64KiB}",
                  .routing = routing});
    expect_exact({.parallel = "pp: 8, dp: auto, overlap_p2p_comm: true", .routing = routing});
  }
}

TEST(KernelsAtOnce, AreExactBehindHostsThatAreLateOrSlow) {
  for (const char* parallel : {"tp: 8, pp: 2, dp: auto", "tp: 8, pp: 4, dp: auto, overlap_p2p_comm: true",
                               "tp: 4, pp: 4, dp: auto, schedule: zb-h1"}) {
    expect_exact({.parallel = parallel, .rest = "compute: {model: calibrated}\n"});
    expect_exact({.parallel = parallel,
                  .simulate = "network: flow, seed: 3, steps: 3, warmup: 1",
                  .rest = "compute: {model: calibrated}\nfaults: [{node: 1, compute_scale: 0.7}]\n"});
  }
}

// Faults that begin later, or end, change how long a call takes alone.
TEST(KernelsAtOnce, AreExactWhereFaultsLast) {
  for (const char* fault : {"{nic: host1/nic3}", "{nic: host1/nic3, state: degraded, factor: 0.5}",
                            "{link: host1/nvswitch0->host1/gpu2, state: degraded, factor: 0.5}",
                            "{nic: host1/nic3, state: lossy, loss: 0.1%}",
                            "{nic: host1/nic3, state: degraded, factor: 0.5, at: 1ms}"}) {
    const std::string rest = "faults: [" + std::string(fault) + "]\n";
    expect_exact({.parallel = "tp: 8, pp: 4, dp: auto", .rest = rest, .host = "dgx-h100"});
    expect_exact({.parallel = "tp: 8, dp: auto, zero: {stage: 1, overlap_grad_reduce: true, bucket: 256KiB}",
                  .rest = rest + "compute: {model: calibrated}\n",
                  .host = "dgx-h100"});
  }
  EXPECT_GT(expect_exact({.parallel = "tp: 8, pp: 4, dp: auto",
                          .rest = "faults: [{nic: host1/nic3, state: degraded, factor: 0.5}]\n",
                          .host = "dgx-h100"}),
            2.0);
}

TEST(KernelsAtOnce, AreExactInLayoutsAtRandom) {
  RandomStream random(31, "kernels at once");
  const auto draw = [&random](std::initializer_list<const char*> choices) {
    return std::string(choices.begin()[random.next_below(choices.size())]);
  };
  int fewer = 0;
  for (int round = 0; round < 10; ++round) {
    const std::string sizes =
        draw({"tp: 8, pp: 2", "tp: 8, pp: 4", "tp: 8", "tp: 4, pp: 2", "tp: 4, cp: 2, pp: 2", "pp: 4", "tp: 2, pp: 8"});
    const std::string strategy =
        draw({"", ", overlap_p2p_comm: true", ", zero: {stage: 1}", ", zero: {stage: 3}",
              ", zero: {stage: 1, overlap_grad_reduce: true, overlap_param_gather: true, bucket: 256KiB}"});
    const Job job{.parallel = sizes + ", dp: auto" + strategy,
                  .training = draw({"", ", recompute: full"}),
                  .routing = draw({"ecmp", "d_mod_k", "static"}),
                  .simulate = draw({"network: flow, seed: 3", "network: flow, seed: 5, steps: 3",
                                    "network: alpha_beta", "network: flow, steps: 3, warmup: 1"}),
                  .rest = draw({"", "faults: [{node: 3, compute_scale: 0.9}]\n", "compute: {model: calibrated}\n",
                                "background: [{from: [0], to: [17], size: 30MB, priority: high}]\n"}),
                  .host = draw({"dgx-a100", "dgx-h100", "hgx-h800"})};
    if (expect_exact(job) > 1.5) ++fewer;
  }
  EXPECT_GT(fewer, 3);
}

// Cycles of pipelines are left out as well: the report is that of a run without any shortcut.
TEST(KernelsAtOnce, LeaveTheReportAsItIs) {
  const std::string text = text_of({.parallel = "tp: 8, pp: 4, dp: auto, sequence_parallel: true",
                                    .training = ", micro_batch: 1",
                                    .rest = "compute: {model: calibrated}\n"});
  expect_same_report(text, {"training.global_batch=128"});
  EXPECT_NE(result_of(text, {"training.global_batch=128"}).find("cycles of the pipeline fast-forwarded"),
            std::string::npos);
}

// Groups whose paths differ by names alone are simulated once.
TEST(KernelsAtOnce, AreSimulatedOnceForGroupsOfEqualPaths) {
  const Scenario scenario = load(text_of({.parallel = "tp: 8, pp: 4, dp: auto"}));
  const auto simulation = assemble(scenario, FoldMode::kNoFold);
  const auto lone = make_lone_network(scenario, *simulation);
  ASSERT_NE(lone, nullptr);
  const std::vector<Dimension>& dimensions = simulation->plan().graph.dimensions;
  const auto named = std::ranges::find(dimensions, "tp", &Dimension::name);
  const DimensionId tp(static_cast<std::size_t>(named - dimensions.begin()));
  const LoneCall& first = lone->calls().collective(ClassId(0), tp, 0);
  const std::uint64_t events = lone->events();
  EXPECT_GT(events, 0U);
  const LoneCall& next_host = lone->calls().collective(ClassId(8), tp, 0);
  EXPECT_EQ(lone->events(), events);
  EXPECT_EQ(next_host.links.size(), first.links.size());
  EXPECT_NE(next_host.links, first.links);
}

TEST(KernelsAtOnce, NotWhereNetworksOrKernelsChange) {
  const auto lone = [](const Job& job) {
    const Scenario scenario = load(text_of(job));
    return make_lone_network(scenario, *assemble(scenario)) != nullptr;
  };
  EXPECT_TRUE(lone({.parallel = "tp: 8, dp: auto"}));
  EXPECT_FALSE(lone({.parallel = "tp: 8, dp: auto", .rest = "interference: {model: share}\n"}));
  EXPECT_FALSE(lone({.parallel = "tp: 8, dp: auto", .simulate = "network: dcqcn"}));
  EXPECT_FALSE(lone({.parallel = "tp: 8, dp: auto", .rest = "faults: [{nic: host1/nic3, at: 1ms}]\n"}));
}

}  // namespace
}  // namespace ringwright::configs::kernels_at_once_test
