// Collectives within hosts outside passes, among GPUs of several classes, are exact at once while no other traffic uses
// their links: every rank, call and link is as if each message had been simulated. Those that others meet go step by
// step.
#include <string>

#include <gtest/gtest.h>

#include "core/base/random.h"
#include "tests/configs/played.h"
#include "tests/configs/same_runs.h"

namespace ringwright::configs::calls_within_hosts_test {
namespace {

constexpr const char* kOverlap =
    "zero: {stage: 1, overlap_grad_reduce: true, overlap_param_gather: true, bucket: 256KiB}";

struct Job {
  std::string parallel = "tp: 8, pp: 2, dp: auto";
  std::string strategy = kOverlap;  // passes during which buckets travel are simulated task by task
  std::string algorithm = "in_switch";
  std::string faults = "{nic: host1/nic3}";  // GPU 3 sends by another GPU's NIC, partly over NVLink
  std::string rest = "compute: {model: calibrated}\n";
};

std::string text_of(const Job& job) {
  return std::string(kTinyModel) + "training: {global_batch: 32}\nparallel: {" + job.parallel + ", " + job.strategy +
         "}\ncluster: {nodes: 8, node: {preset: dgx-h100}, fabric: {type: rail_optimized, scalable_unit: 2, "
         "leaf: {ports: 4}, spine: {ports: 16}}}\nfaults: [" +
         job.faults + "]\ncollectives: {tp: {algorithm: " + job.algorithm + "}}\n" + job.rest;
}

double expect_exact(const Job& job, FoldMode fold = FoldMode::kFold) { return expect_same_runs(text_of(job), fold); }

TEST(CallsWithinHosts, AreExactAndFewerEventsWhereBucketsTravelMeanwhile) {
  EXPECT_GT(expect_exact({.faults = "{nic: host1/nic3, state: degraded, factor: 0.5}"}), 1.5);
  EXPECT_GT(expect_exact({}), 1.2);
  expect_exact({.algorithm = "bine"});
  expect_exact({.faults = ""}, FoldMode::kNoFold);
}

// A slower link within one host is one that paths do not show.
TEST(CallsWithinHosts, TakeLongerOverDegradedLinks) {
  for (const char* fault : {"{link: host1/nvswitch0->host1/gpu2, state: degraded, factor: 0.5}",
                            "{link: host1/gpu2->host1/nvswitch0, state: degraded, factor: 0.25}"}) {
    expect_exact({.faults = fault});
    expect_exact({.faults = fault, .rest = ""});
  }
}

TEST(CallsWithinHosts, AreExactInLayoutsAtRandom) {
  RandomStream random(41, "calls within hosts");
  const auto draw = [&random](std::initializer_list<const char*> choices) {
    return std::string(choices.begin()[random.next_below(choices.size())]);
  };
  int fewer = 0;
  for (int round = 0; round < 16; ++round) {
    const Job job{.parallel = draw({"tp: 8, pp: 2, dp: auto", "tp: 8, pp: 4, dp: auto", "tp: 8, dp: auto",
                                    "tp: 4, pp: 2, dp: auto", "tp: 4, cp: 2, pp: 2, dp: auto"}),
                  .strategy = draw({kOverlap, "zero: {stage: 1, overlap_grad_reduce: true, bucket: 128KiB}",
                                    "sequence_parallel: true, zero: {stage: 1, overlap_grad_reduce: true}"}),
                  .algorithm = draw({"in_switch", "halving_doubling", "bine", "ring"}),
                  .faults = draw({"", "{nic: host1/nic3}", "{nic: host0/nic0}, {nic: host5/nic7}",
                                  "{node: 3, compute_scale: 0.9}", "{nic: host2/nic1, failover: balance}",
                                  "{nic: host2/nic1, state: degraded, factor: 0.4}",
                                  "{link: host2/nvswitch0->host2/gpu5, state: degraded, factor: 0.5}"}),
                  .rest = draw({"", "compute: {model: calibrated}\n",
                                "compute: {model: calibrated}\nsimulate: {network: flow, steps: 3, warmup: 1}\n"})};
    if (expect_exact(job) > 1.2) ++fewer;
  }
  EXPECT_GT(fewer, 3);
}

TEST(CallsWithinHosts, LeaveTheReportAsItIs) {
  expect_same_report(text_of({.faults = "{nic: host1/nic3, state: degraded, factor: 0.5}"}),
                     {"training.global_batch=128", "training.micro_batch=1"});
}

}  // namespace
}  // namespace ringwright::configs::calls_within_hosts_test
