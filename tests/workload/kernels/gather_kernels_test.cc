#include "workload/kernels/gather_kernels.h"

#include <gtest/gtest.h>

#include "tests/workload/job_text.h"

namespace ringwright::workload::gather_kernels_test {
namespace {

KernelContext context() {
  const JobText job("model: {preset: gpt3-175b}\ntraining: {global_batch: 384}\nparallel: {zero: {stage: 3}}\n", 384);
  return make_kernel_context(job.shape, job.training, job.parallel);
}

// 12288 x 12288 elements of two bytes: each of 384 parts, of 393,216, is read and written by a kernel of its own.
constexpr ListedWeight kProjection{.elements = 12'288 * 12'288, .parts = 384};

TEST(GatherKernels, EveryPartIsCopied) {
  const std::vector<Kernel> kernels = copy_parts(context(), kProjection);
  ASSERT_EQ(kernels.size(), 1);
  EXPECT_EQ(kernels[0].launches, 384);
  EXPECT_EQ(kernels[0].bytes, Bytes(2 * 2 * 393'216));
}

// The copies are issued while the parts arrive, so that their own kernels are not issued again.
TEST(GatherKernels, TheHostTakesATurnForEveryPartTwice) {
  const std::vector<Kernel> list = list_parts(context(), kProjection);
  ASSERT_EQ(list.size(), 2);
  EXPECT_EQ(list[0].bytes, Bytes(2 * 12'288 * 12'288));  // cleared
  const std::vector<Kernel> copies = issue_part_copies(context(), kProjection);
  for (const Kernel& turns : {list[1], copies.at(0)}) {
    EXPECT_EQ(turns.launches, 384);
    EXPECT_EQ(turns.issue, KernelIssue::kLoop);
    EXPECT_TRUE(turns.host_paced);
    EXPECT_EQ(turns.bytes, Bytes(0));
  }
  EXPECT_EQ(copy_parts(context(), kProjection).at(0).issue, KernelIssue::kTogether);
}

}  // namespace
}  // namespace ringwright::workload::gather_kernels_test
