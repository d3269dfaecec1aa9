#include "traces/kineto/operator_times.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/traces/kineto/profiler_events.h"

namespace ringwright::traces::operator_times_test {
namespace {

using namespace literals;

std::string kernel(const std::string& name, int start, int time, const std::string& arguments) {
  return test::gpu_kernel(name, std::to_string(start), std::to_string(time), arguments);
}

std::vector<MeasuredOperator> operators_of(const std::vector<std::string>& events) {
  const auto reading = read_kineto_text("rank0.json", test::profiler_trace(events));
  EXPECT_TRUE(reading.has_value()) << (reading ? "" : render(reading.error()));
  return reading ? reading->trace.operators : std::vector<MeasuredOperator>();
}

constexpr const char* kFactors = R"("Input Dims": [[32], [16, 8], [8, 32]], "Input type": ["float", "float", "float"])";

TEST(OperatorTimes, KernelsOfOneExternalIdAreOneOperator) {
  const auto found =
      operators_of({kernel("gemm", 20, 5, R"("External id": 4)"), kernel("splitKreduce", 26, 1, R"("External id": 4)"),
                    test::host_event("cpu_op", "aten::addmm", 1, 5, std::string(R"("External id": 4, )") + kFactors)});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kernel.m, 16);
  EXPECT_EQ(found[0].kernel.type, DataType::kFp32);
  EXPECT_EQ(found[0].kernels, 2U);
  EXPECT_EQ(found[0].time, 6_us);
}

// Traces of 2022 number launches in "External id" of kernels and operators from their own counter.
TEST(OperatorTimes, AKernelBelongsToTheInnermostOperatorOfItsLaunch) {
  const auto found = operators_of(
      {test::host_event("cpu_op", "aten::softmax", 0, 50, R"("External id": 1)"),
       test::host_event("cpu_op", "aten::_softmax", 10, 20,
                        R"("External id": 77, "Input Dims": [[64, 64]], "Input type": ["float"])"),
       test::host_event("cuda_runtime", "cudaLaunchKernel", 15, 2, R"("External id": 900, "correlation": 900)"),
       test::host_event("cuda_runtime", "cudaLaunchKernel", 60, 2, R"("External id": 77, "correlation": 77)"),
       kernel("softmax", 100, 4, R"("External id": 900, "correlation": 900)"),
       kernel("other", 110, 9, R"("External id": 77, "correlation": 77)")});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kernel.family, KernelFamily::kSoftmax);
  EXPECT_EQ(found[0].time, 4_us);
}

TEST(OperatorTimes, TheKernelTellsWhetherAGemmOf32BitsIsTf32) {
  const auto found =
      operators_of({kernel("cutlass_80_tensorop_s1688gemm_64x64_32x4_nn_align1", 20, 5, R"("External id": 4)"),
                    test::host_event("cpu_op", "aten::addmm", 1, 5, std::string(R"("External id": 4, )") + kFactors)});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kernel.type, DataType::kTf32);
}

TEST(OperatorTimes, ListsOfTensorsCountAllTheirElements) {
  const auto found = operators_of(
      {kernel("cat", 20, 5, R"("External id": 4)"),
       test::host_event(
           "cpu_op", "aten::cat", 1, 5,
           R"("External id": 4, "Input Dims": [[[2, 3], [4]], []], "Input type": [["float", "float"], "Scalar"])")});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kernel.bytes, Bytes(2 * 10 * 4));
}

TEST(OperatorTimes, SizesThatNoGpuHoldsAreNotBelieved) {
  EXPECT_TRUE(
      operators_of(
          {kernel("add", 20, 5, R"("External id": 4)"),
           test::host_event("cpu_op", "aten::silu", 1, 5,
                            R"("External id": 4, "Input Dims": [[9000000000000000000, 8]], "Input type": ["float"])")})
          .empty());
}

}  // namespace
}  // namespace ringwright::traces::operator_times_test
