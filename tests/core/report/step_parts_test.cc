#include "core/report/step_parts.h"

#include <gtest/gtest.h>

namespace ringwright::step_parts_test {
namespace {

using namespace literals;

TimeBreakdown breakdown() {
  TimeBreakdown result{
      .of = "all ranks", .ranks = 8, .computing = 70_us, .dimensions = {}, .idle = 10_us, .total = 100_us};
  result.dimensions.push_back(
      {.name = "tp", .exposed = 20_us, .compute_lost_to_sms = 4_us, .compute_lost_to_memory = 1_us});
  return result;
}

// 70 us of computing: 60 at nominal speed, 5 lost to communication, 5 on slow hosts.
TEST(StepParts, SplitComputingByFamilyAndWhatSlowsIt) {
  const std::vector<KernelTime> kernels{{.family = "gemm", .time = 40_us}, {.family = "norm", .time = 20_us}};
  EXPECT_EQ(parts_of(breakdown(), kernels, 100_us), (std::vector<StepPart>{{"compute: gemm", 40_us},
                                                                           {"compute: norm", 20_us},
                                                                           {"slowed hosts", 5_us},
                                                                           {"interference", 5_us},
                                                                           {"exposed tp", 20_us},
                                                                           {"bubble and waiting", 10_us}}));
}

// Means of families are rounded one by one: what is left of that is no slow host.
TEST(StepParts, PutRoundingIntoTheLargestFamily) {
  const Duration tiny(2);
  const std::vector<KernelTime> kernels{{.family = "norm", .time = 20_us}, {.family = "gemm", .time = 45_us + tiny}};
  const std::vector<StepPart> parts = parts_of(breakdown(), kernels, 100_us);
  EXPECT_EQ(parts[1], (StepPart{"compute: gemm", 45_us}));
  EXPECT_EQ(parts[2], (StepPart{"interference", 5_us}));
  Duration sum;
  for (const StepPart& part : parts) sum += part.time;
  EXPECT_EQ(sum, 100_us);
}

TEST(StepParts, HaveOneRowOfComputingWithoutKernels) {
  EXPECT_EQ(parts_of(breakdown(), {}, 100_us).front(), (StepPart{"compute", 65_us}));
}

TEST(StepParts, AddUpToTheStepWhateverTheBreakdownMisses) {
  for (const Duration step : {90_us, 100_us, 101_us}) {
    Duration sum;
    for (const StepPart& part : parts_of(breakdown(), {}, step)) sum += part.time;
    EXPECT_EQ(sum, step);
  }
  EXPECT_EQ(parts_of(breakdown(), {}, 90_us).back(), (StepPart{"unattributed", Duration(-10'000'000)}));
}

}  // namespace
}  // namespace ringwright::step_parts_test
