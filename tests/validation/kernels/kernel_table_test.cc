#include "validation/kernels/kernel_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/scenario/gpu_preset.h"
#include "workload/kernels/kernel_rules.h"

namespace ringwright::validation::kernel_table_test {
namespace {

constexpr const char* kHead = "# gpu: a100-pcie-80gb\n# source: a test\n";

std::string problems_of(const std::string& text) {
  const auto table = parse_kernel_table("t.csv", text);
  return table ? "" : render(table.error());
}

// 2 x 4096^3 FLOPs in bf16: 441 us at the 312 TFLOPS of an A100.
Diagnostics units_of(const std::string& time) {
  const auto table = parse_kernel_table(
      "t.csv", std::string(kHead) +
                   "family,dtype,m,n,k,flops,bytes,time_us\ngemm,bf16,4096,4096,4096,137438953472,100663296," + time +
                   "\n");
  EXPECT_TRUE(table.has_value());
  workload::GpuSpec gpu;
  gpu.name = "A100";
  gpu.peak[static_cast<std::size_t>(DataType::kBf16)] = FlopRate(312e12);
  gpu.memory_bandwidth = Bandwidth(2e12);
  return table ? check_units(*table, gpu) : Diagnostics();
}

TEST(KernelTable, TimesOfAnotherUnitAreRefused) {
  EXPECT_FALSE(units_of("600").has_errors());
  EXPECT_THAT(render(units_of("0.6")), testing::HasSubstr("t.csv:4:49: error[E167]"));
  EXPECT_THAT(render(units_of("0.6")), testing::HasSubstr("these seem to be milliseconds"));
  EXPECT_THAT(render(units_of("600000")), testing::HasSubstr("these seem to be nanoseconds"));
}

// 2 x 512 x 256 x 128 x 2 FLOPs.
TEST(KernelTable, FlopsThatContradictTheSizesAreRefused) {
  const auto problems = [](const std::string& flops) {
    return problems_of(std::string(kHead) + "family,dtype,m,n,k,batch,flops,bytes,time_us\ngemm,bf16,512,256,128,2," +
                       flops + ",786432,12.5\n");
  };
  EXPECT_EQ(problems("67108864"), "");
  EXPECT_EQ(problems("75000000"), "");  // with an epilogue
  EXPECT_THAT(problems("67108"), testing::HasSubstr("t.csv:4:25: error[E163]: flops is 67108, and 2 m n k times batch "
                                                    "is 6.71089e+07"));
  EXPECT_THAT(problems("1e300"), testing::HasSubstr("must be a number from 0 to 1e+30"));
}

TEST(KernelTable, ReadsWhatAKernelIsAndHowItWasMeasured) {
  const auto table = parse_kernel_table(
      "t.csv", std::string(kHead) +
                   "family,op,dtype,layout,m,n,k,batch,mask,flops,bytes,mode,time_us,ci_low_us,ci_high_us\n"
                   "gemm,cublasLt,bf16,NT,512,256,128,2,,67108864,786432,graph,12.5,12.4,12.6\n"
                   "attention backward,flash2,fp16,,4096,4096,128,8,causal,1e9,1e6,kernel,100,,\n"
                   "copy,memcpy,fp32,,,,,,,0,1000000,,2,,\n");
  ASSERT_TRUE(table) << render(table.error());
  EXPECT_EQ(table->gpu, "a100-pcie-80gb");
  EXPECT_EQ(table->source, "a test");
  ASSERT_EQ(table->rows.size(), 3U);
  const MeasuredKernel& gemm = table->rows[0];
  EXPECT_EQ(gemm.kernel.family, KernelFamily::kGemm);
  EXPECT_EQ(gemm.kernel.role, GemmRole::kWgrad);
  EXPECT_EQ(gemm.kernel.m, 512);
  EXPECT_EQ(gemm.kernel.batch, 2);
  EXPECT_EQ(gemm.mode, LaunchMode::kGraph);
  EXPECT_DOUBLE_EQ(gemm.seconds, 12.5e-6);
  EXPECT_EQ(gemm.line, 4);
  EXPECT_EQ(table->rows[1].kernel.mask, AttentionMask::kCausal);
  EXPECT_EQ(table->rows[1].kernel.type, DataType::kFp16);
  EXPECT_EQ(table->rows[2].mode, LaunchMode::kEager);
  EXPECT_EQ(table->rows[2].kernel.bytes, Bytes(1'000'000));
}

TEST(KernelTable, AWindowNeedsACausalMask) {
  const std::string head = std::string(kHead) + "family,dtype,m,n,k,mask,window,flops,bytes,time_us\n";
  const auto table = parse_kernel_table("t.csv", head + "attention forward,bf16,4096,4096,64,causal,128,1e9,1e6,100\n");
  ASSERT_TRUE(table) << render(table.error());
  EXPECT_EQ(table->rows[0].kernel.window, 128);
  EXPECT_THAT(problems_of(head + "attention forward,bf16,4096,4096,64,none,128,1e9,1e6,100\n"),
              testing::HasSubstr("a window needs `causal` in column mask"));
}

TEST(KernelTable, EveryMistakeIsReportedWithItsPlace) {
  const std::string text = problems_of(std::string(kHead) +
                                       "family,dtype,m,n,k,flops,bytes,time_us\n"
                                       "gem,bf16,1,1,1,2,6,1\n"
                                       "gemm,bf16,64,64,,2,6,1\n"
                                       "copy,bf17,,,,0,6,-3\n");
  EXPECT_THAT(text, testing::HasSubstr("t.csv:4:1: error[E163]: family 'gem' is unknown"));
  EXPECT_THAT(text, testing::HasSubstr("did you mean 'gemm'?"));
  EXPECT_THAT(text, testing::HasSubstr("t.csv:5:1: error[E163]: a kernel of family gemm needs m, n and k"));
  EXPECT_THAT(text, testing::HasSubstr("t.csv:6:6: error[E163]: dtype 'bf17' is unknown"));
  EXPECT_THAT(text, testing::HasSubstr("t.csv:6:18: error[E163]: time_us is '-3'"));
}

TEST(KernelTable, NothingThatIsGivenIsIgnored) {
  EXPECT_THAT(problems_of(std::string(kHead) + "family,dtype,flops,bytes,time_us,tflops\ncopy,bf16,0,1,1,3\n"),
              testing::HasSubstr("column 'tflops' is not part of a table"));
  EXPECT_THAT(problems_of(std::string(kHead) + "# gqu: x\nfamily,dtype,flops,bytes,time_us\ncopy,bf16,0,1,1\n"),
              testing::HasSubstr("unknown key 'gqu'"));
  EXPECT_THAT(problems_of("# source: x\nfamily,dtype,flops,bytes,time_us\ncopy,bf16,0,1,1\n"),
              testing::HasSubstr("does not name its GPU"));
  EXPECT_THAT(problems_of(std::string(kHead) + "family,dtype,flops,bytes\ncopy,bf16,0,1\n"),
              testing::HasSubstr("there is no column 'time_us'"));
  EXPECT_THAT(problems_of(std::string(kHead) + "family,dtype,flops,bytes,time_us\n"),
              testing::HasSubstr("there is no row"));
  EXPECT_THAT(problems_of(std::string(kHead) + "family,dtype,flops,bytes,time_us\ncopy,bf16,,1,1\n"),
              testing::HasSubstr("flops is missing"));
}

Kernel gemm(std::int64_t m, std::int64_t n, std::int64_t k) {
  return {.family = KernelFamily::kGemm, .name = "x", .m = m, .n = n, .k = k};
}

TEST(KernelTable, TheThreeGemmsOfALayerAreOneShape) {
  EXPECT_EQ(shape_key(gemm(4096, 1024, 512)), shape_key(gemm(512, 4096, 1024)));
  EXPECT_NE(shape_key(gemm(4096, 1024, 512)), shape_key(gemm(4096, 1024, 513)));
  EXPECT_EQ(shape_key({.family = KernelFamily::kCopy, .name = "x", .bytes = Bytes(77)}), "copy/bf16/77");
}

TEST(KernelTable, AboutOneShapeInFourIsHeldOut) {
  int kept = 0;
  for (std::int64_t m = 1; m <= 1000; ++m) kept += is_held_out(gemm(64 * m, 1024, 512)) ? 1 : 0;
  EXPECT_NEAR(kept, 250, 3 * 14);  // three standard deviations of a binomial of 1000 and a quarter
}

TEST(KernelTable, ColdKernelsFindNothingInTheCache) {
  const auto preset = configs::load_gpu("h200-sxm-141gb");
  ASSERT_TRUE(preset);
  MeasuredKernel row{.kernel = {.family = KernelFamily::kCopy, .name = "copy", .bytes = Bytes(1'000'000)},
                     .mode = LaunchMode::kGraph};
  const double warm = predicted_seconds(row, preset->gpu);
  row.cold = true;
  EXPECT_GT(predicted_seconds(row, preset->gpu), warm);
}

TEST(KernelTable, EagerLaunchesAreNoFasterThanTheHost) {
  workload::GpuSpec gpu;
  gpu.memory_bandwidth = Bandwidth(1e12);
  gpu.kernels = workload::class_profile();
  gpu.kernels[workload::KernelConstant::kHostLaunch] = 5e-6;
  gpu.kernels[workload::KernelConstant::kStreamGap] = 1e-6;
  MeasuredKernel row{.kernel = {.family = KernelFamily::kCopy, .name = "x", .bytes = Bytes(0)},
                     .mode = LaunchMode::kEager};
  EXPECT_DOUBLE_EQ(predicted_seconds(row, gpu), 5e-6);
  row.mode = LaunchMode::kGraph;
  EXPECT_DOUBLE_EQ(predicted_seconds(row, gpu), 1e-6);
  row.mode = LaunchMode::kKernel;
  EXPECT_NEAR(predicted_seconds(row, gpu), 0.0, 1e-15);
}

}  // namespace
}  // namespace ringwright::validation::kernel_table_test
