// Gradients of sharded parameters that are not reduced in every microbatch.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"
#include "workload/parallel/sharded.h"

namespace ringwright::workload::unsharded_gradients_test {
namespace {

StepPlan plan_of(const std::string& fsdp, int batch) {
  const JobText job(small_model(4) + fmt::format("training: {{global_batch: {}}}\nparallel: {{{}}}\n", batch, fsdp), 4);
  EXPECT_THAT(job.problems(), testing::IsEmpty());
  return job.plan();
}

// Three microbatches: FSDP2 casts the first gradients to fp32 (6 bytes for each) and adds the others (10 each); what it
// reduces is in fp32 then (8 instead of 6). FSDP1 adds twice in two bytes each.
TEST(UnshardedGradients, AreAccumulatedUntilTheLastMicrobatch) {
  const auto moved = [](const std::string& fsdp, int batch, const std::string& name) {
    const StepPlan plan = plan_of(fsdp, batch);
    double bytes = 0.0;
    for (const Task& task : plan.graph.programs.front().tasks) {
      if (task.kind != TaskKind::kCompute) continue;
      for (const Kernel& kernel : plan.graph.works[task.detail].kernels) {
        if (kernel.name == name) bytes += static_cast<double>(kernel.bytes.count() * kernel.launches);
      }
    }
    return bytes / static_cast<double>(plan.stage_parameters[0]);
  };
  EXPECT_DOUBLE_EQ(moved("fsdp: {no_sync: true}", 12, "accumulate gradients"), 6 + 2 * 10);
  EXPECT_DOUBLE_EQ(moved("fsdp: {no_sync: true}", 12, "copy gradients"), 8);
  EXPECT_DOUBLE_EQ(moved("fsdp: {no_sync: true, version: 1}", 12, "accumulate gradients"), 2 * 6);
  EXPECT_DOUBLE_EQ(moved("fsdp: {no_sync: true, version: 1}", 12, "copy gradients"), 6);
  EXPECT_DOUBLE_EQ(moved("fsdp: {no_sync: true}", 4, "accumulate gradients"), 0) << "one microbatch";
  EXPECT_DOUBLE_EQ(moved("fsdp: {}", 12, "accumulate gradients"), 0);
}

}  // namespace
}  // namespace ringwright::workload::unsharded_gradients_test
