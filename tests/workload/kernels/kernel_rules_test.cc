#include "workload/kernels/kernel_rules.h"

#include <gtest/gtest.h>

#include "tests/workload/kernels/machine.h"

namespace ringwright::workload::kernel_rules_test {
namespace {

using enum KernelConstant;

Kernel moving(std::int64_t bytes) {
  return {.family = KernelFamily::kCopy, .name = "copy", .bytes = Bytes(bytes)};
}

TEST(KernelRules, TheGapIsAddedToEveryKernel) {
  GpuSpec gpu = plain_gpu();
  gpu.kernels[kStreamGap] = 2e-6;
  EXPECT_DOUBLE_EQ(kernel_seconds(moving(1'000'000'000), gpu), 1e-3 + 2e-6);
}

TEST(KernelRules, AProfileKnowsWhatItWasFittedOn) {
  KernelProfile profile = class_profile();
  const Kernel gemm = product({.m = 4096, .n = 1024, .k = 8192});
  EXPECT_FALSE(within_fit(gemm, profile));  // nothing was fitted
  profile[kGemmSmallest] = 1024;
  profile[kGemmLargest] = 8192;
  EXPECT_TRUE(within_fit(gemm, profile));
  EXPECT_FALSE(within_fit(product({.m = 4096, .n = 512, .k = 8192}), profile));
  Kernel narrow = gemm;
  narrow.type = DataType::kFp4;
  profile.assumed[static_cast<std::size_t>(kGemmFp4Share)] = true;
  EXPECT_TRUE(within_fit(gemm, profile));
  EXPECT_FALSE(within_fit(narrow, profile));  // measured sizes, but other types
  EXPECT_FALSE(within_fit(moving(1'000'000), profile));
  profile[kStreamSmallest] = 1'000;
  profile[kStreamLargest] = 1'000'000;
  EXPECT_TRUE(within_fit(moving(1'000'000), profile));
}

}  // namespace
}  // namespace ringwright::workload::kernel_rules_test
