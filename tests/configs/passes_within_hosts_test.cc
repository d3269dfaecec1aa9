// Passes whose collectives are within hosts, among GPUs of several classes, are exact as one event each, whatever the
// algorithm: every rank, every mixture of activities, every call and every link is as if each message had been
// simulated. Hosts whose links others use are simulated task by task.
#include <string>

#include <gtest/gtest.h>

#include "core/base/random.h"
#include "tests/configs/played.h"
#include "tests/configs/same_runs.h"

namespace ringwright::configs::passes_within_hosts_test {
namespace {

struct Job {
  std::string parallel = "tp: 8, pp: 4, dp: auto, sequence_parallel: true";
  std::string algorithm = "in_switch";
  std::string faults = "{nic: host1/nic3}";  // GPU 3 sends by another GPU's NIC, partly over NVLink
  std::string rest;                          // further sections
  std::string routing = "static";
};

std::string text_of(const Job& job) {
  return std::string(kTinyModel) + "training: {global_batch: 32}\nparallel: {" + job.parallel +
         "}\ncluster: {nodes: 8, node: {preset: dgx-h100}, fabric: {type: rail_optimized, scalable_unit: 2, "
         "leaf: {ports: 4}, spine: {ports: 16}, routing: {policy: " +
         job.routing + "}}}\nfaults: [" + job.faults + "]\ncollectives: {tp: {algorithm: " + job.algorithm + "}}\n" +
         job.rest;
}

// The factor by which the number of events shrinks.
double expect_exact(const Job& job, FoldMode fold = FoldMode::kFold) { return expect_same_runs(text_of(job), fold); }

TEST(PassesWithinHosts, AreExactAndFewerEventsWhereANicIsLost) {
  EXPECT_GT(expect_exact({}), 2.0);
  EXPECT_GT(expect_exact({.algorithm = "bine"}), 1.5);
  expect_exact({.faults = "{nic: host1/nic3, failover: migrate}"});
}

TEST(PassesWithinHosts, AreExactWhereEveryRankIsSimulated) {
  EXPECT_GT(expect_exact({.faults = ""}, FoldMode::kNoFold), 2.0);
}

TEST(PassesWithinHosts, AreExactBehindHostsThatAreLateOrSlow) {
  expect_exact({.rest = "compute: {model: calibrated}\n"});
  expect_exact({.faults = "{nic: host1/nic3}, {node: 2, compute_scale: 0.7}",
                .rest = "compute: {model: calibrated}\nsimulate: {network: flow, steps: 3, warmup: 1}\n"});
}

// A link that is degraded or down for the whole run is like a slower one, or one that paths avoid.
TEST(PassesWithinHosts, AreExactWhereFaultsLast) {
  for (const char* fault : {"{nic: host1/nic3, state: degraded, factor: 0.5}",
                            "{link: leaf0.3->spine0.0, state: degraded, factor: 0.3}", "{link: leaf0.3->spine0.0}",
                            "{nic: host1/nic3, state: lossy, loss: 0.1%}",
                            "{link: host1/nvswitch0->host1/gpu2, state: degraded, factor: 0.5}",
                            "{link: host1/nvswitch0->host1/gpu2, state: degraded, factor: 0.5, at: 1ms}",
                            "{nic: host1/nic3, state: degraded, factor: 0.5, for: 2ms}"}) {
    for (const char* algorithm : {"in_switch", "ring"}) {
      expect_exact({.algorithm = algorithm,
                    .faults = fault,
                    .rest = "compute: {model: calibrated}\nsimulate: {network: flow, steps: 3, warmup: 1}\n"});
    }
  }
  EXPECT_GT(expect_exact({.faults = "{nic: host1/nic3, state: degraded, factor: 0.5}"}), 2.0);
}

TEST(PassesWithinHosts, AreExactInLayoutsAtRandom) {
  RandomStream random(37, "passes within hosts");
  const auto draw = [&random](std::initializer_list<const char*> choices) {
    return std::string(choices.begin()[random.next_below(choices.size())]);
  };
  int fewer = 0;
  for (int round = 0; round < 16; ++round) {
    const std::string sizes = draw({"tp: 8, pp: 2", "tp: 8, pp: 4", "tp: 8", "tp: 4, pp: 2", "tp: 4, cp: 2, pp: 2"});
    const std::string strategy =
        draw({"", ", sequence_parallel: true", ", overlap_p2p_comm: true", ", zero: {stage: 1}",
              ", zero: {stage: 1, overlap_grad_reduce: true, overlap_param_gather: true, bucket: 256KiB}"});
    const Job job{.parallel = sizes + ", dp: auto" + strategy,
                  .algorithm = draw({"in_switch", "halving_doubling", "bine"}),
                  .faults = draw({"", "{nic: host1/nic3}", "{nic: host0/nic0}, {nic: host5/nic7}",
                                  "{node: 3, compute_scale: 0.9}", "{nic: host2/nic1, failover: balance}",
                                  "{nic: host2/nic1, state: degraded, factor: 0.4}"}),
                  .rest = draw({"", "compute: {model: calibrated}\n", "simulate: {network: flow, steps: 3}\n"}),
                  .routing = draw({"ecmp", "d_mod_k", "static"})};
    if (expect_exact(job) > 1.5) ++fewer;
  }
  EXPECT_GT(fewer, 3);
}

// Cycles of pipelines are left out as well: the report is that of a run without any shortcut.
TEST(PassesWithinHosts, LeaveTheReportAsItIs) {
  expect_same_report(text_of({.rest = "compute: {model: calibrated}\n"}),
                     {"training.global_batch=128", "training.micro_batch=1"});
}

}  // namespace
}  // namespace ringwright::configs::passes_within_hosts_test
