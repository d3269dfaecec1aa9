// Gradients and parameters on the links of passes, as of two tensor-parallel groups on a host: passes are simulated
// task by task while these travel, and as one event each before and after. Every time, byte and call is as without.
#include <string>

#include <gtest/gtest.h>

#include "core/base/random.h"
#include "tests/configs/played.h"
#include "tests/configs/same_runs.h"

namespace ringwright::configs::passes_during_collectives_test {
namespace {

constexpr const char* kOverlapped =
    ", zero: {stage: 1, overlap_grad_reduce: true, overlap_param_gather: true, bucket: 256KiB}";

struct Job {
  std::string parallel = "tp: 4, pp: 2";
  std::string zero = kOverlapped;
  std::string batch = "64";
  std::string rest;  // further sections
};

std::string text_of(const Job& job) {
  return std::string(kTinyModel) + "training: {global_batch: " + job.batch + "}\nparallel: {" + job.parallel +
         ", sequence_parallel: true, dp: auto" + job.zero +
         "}\ncluster: {nodes: 4, node: {preset: dgx-h100}, fabric: {type: rail_optimized, scalable_unit: 4, "
         "leaf: {ports: 8}, spine: {ports: 8}}}\n" +
         job.rest;
}

TEST(PassesDuringCollectives, AreTheOnlyOnesTaskByTask) {
  EXPECT_GT(expect_same_runs(text_of({})), 1.5);
  EXPECT_GT(expect_same_runs(text_of({.batch = "256"})), 3.0);
  EXPECT_GT(expect_same_runs(
                text_of({.parallel = "tp: 4, pp: 2, virtual_stages: 2, schedule: interleaved-1f1b", .batch = "256"})),
            3.0);
}

TEST(PassesDuringCollectives, LeaveOthersAsTheyAreInLayoutsAtRandom) {
  RandomStream random(41, "passes during collectives");
  const auto draw = [&random](std::initializer_list<const char*> choices) {
    return std::string(choices.begin()[random.next_below(choices.size())]);
  };
  for (int round = 0; round < 12; ++round) {
    const std::string faults =
        draw({"", "", "faults: [{nic: host1/nic3}]\n", "faults: [{node: 2, compute_scale: 0.8}]\n"});
    expect_same_runs(text_of(
        {.parallel = draw({"tp: 4, pp: 2", "tp: 2, pp: 4", "tp: 4",
                           "tp: 4, pp: 4, schedule: interleaved-1f1b, virtual_stages: 2", "tp: 2, pp: 2"}),
         .zero = draw(
             {kOverlapped, ", zero: {stage: 1, overlap_grad_reduce: true}", ", zero: {overlap_grad_reduce: true}"}),
         .batch = draw({"32", "64", "128"}),
         .rest = faults +
                 draw({"", "compute: {model: calibrated}\n", "simulate: {network: flow, steps: 3, warmup: 1}\n"})}));
  }
}

// Cycles of the pipeline are left out as well.
TEST(PassesDuringCollectives, LeaveTheReportAsItIs) {
  expect_same_report(text_of({.parallel = "tp: 4, pp: 2, overlap_p2p_comm: true"}),
                     {"training.global_batch=256", "training.micro_batch=1"});
}

}  // namespace
}  // namespace ringwright::configs::passes_during_collectives_test
