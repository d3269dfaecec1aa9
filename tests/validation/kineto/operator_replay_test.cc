#include "validation/kineto/operator_replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/scenario/named_machine.h"
#include "validation/kineto/operator_report.h"

namespace ringwright::validation::operator_replay_test {
namespace {

using namespace literals;
using ::testing::HasSubstr;

traces::MeasuredOperator gemm(DataType type, Duration time) {
  return {.kernel = {.family = KernelFamily::kGemm,
                     .name = "aten::mm",
                     .type = type,
                     .m = 4096,
                     .n = 4096,
                     .k = 4096,
                     .flops = Flops(2.0 * 4096 * 4096 * 4096),
                     .bytes = 96_MiB},
          .time = time,
          .kernels = 1};
}

traces::MeasuredOperator silu(Bytes bytes, Duration time) {
  return {.kernel = {.family = KernelFamily::kElementwise, .name = "aten::silu", .bytes = bytes},
          .time = time,
          .kernels = 1};
}

workload::GpuSpec h100() {
  const auto machine = configs::load_named_machine("dgx-h100", {.overrides = {}, .share_folders = {}});
  return machine ? machine->cluster.gpu : workload::GpuSpec();
}

TEST(OperatorReplay, LeavesOutTypesForWhichTheGpuHasNoPeak) {
  traces::KinetoTrace trace;
  trace.operators = {gemm(DataType::kBf16, 250_us), gemm(DataType::kFp8, 250_us)};
  const OperatorReplay replay = replay_operators({trace}, workload::GpuSpec());
  EXPECT_EQ(replay.left_out, 2U);  // a GPU without any peak
  EXPECT_TRUE(replay.gemms.empty());
}

TEST(OperatorReplay, RowsAreMediansByOperatorAndShape) {
  traces::KinetoTrace trace;
  trace.operators = {silu(100_MiB, 80_us), silu(100_MiB, 60_us), silu(100_MiB, 70_us), silu(1_KiB, 2_us),
                     gemm(DataType::kBf16, 200_us)};
  const OperatorReplay replay = replay_operators({trace}, h100());
  ASSERT_EQ(replay.others.size(), 2U);
  EXPECT_EQ(replay.gemms.size(), 1U);
  EXPECT_EQ(replay.others[1].calls, 3U);
  EXPECT_EQ(replay.others[1].measured, 70_us);
  EXPECT_EQ(replay.compared, 412_us);
  // 100 MiB at about 3 TB/s; a kilobyte takes as long as any kernel.
  EXPECT_NEAR(to_seconds(replay.others[1].simulated), 40e-6, 6e-6);
  EXPECT_GT(replay.others[0].simulated, 1_us);
}

TEST(OperatorReport, ShowsFamiliesAndTheShareThatIsCompared) {
  traces::KinetoTrace trace;
  trace.names = {"gemm", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)"};
  trace.activities = {{.name = 0, .time = 400_us}, {.name = 1, .time = 900_us}};
  trace.operators = {gemm(DataType::kBf16, 200_us)};
  const std::string text = operators_text(replay_operators({trace}, h100()));
  EXPECT_THAT(text, HasSubstr("compared: 50 % of the time of kernels that do not communicate"));
  EXPECT_THAT(text, HasSubstr("gemm         1      1        0.200"));
  EXPECT_EQ(operators_text({}), "");
}

}  // namespace
}  // namespace ringwright::validation::operator_replay_test
