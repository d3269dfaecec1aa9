#include "validation/kernels/kernel_fit.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/config/config_document.h"
#include "validation/kernels/kernel_profile_text.h"

namespace ringwright::validation::kernel_fit_test {
namespace {

using enum workload::KernelConstant;

workload::GpuSpec machine() {
  workload::GpuSpec gpu;
  gpu.name = "machine";
  gpu.peak[static_cast<std::size_t>(DataType::kBf16)] = FlopRate(300e12);
  gpu.memory_bandwidth = Bandwidth(2e12);
  gpu.sms = 108;
  gpu.l2 = Bytes(40'000'000);
  gpu.kernels = workload::class_profile();
  return gpu;
}

Kernel gemm(std::int64_t m, std::int64_t n, std::int64_t k, GemmRole role) {
  return {.family = KernelFamily::kGemm,
          .name = "x",
          .m = m,
          .n = n,
          .k = k,
          .role = role,
          .flops = Flops(2.0 * static_cast<double>(m * n * k)),
          .bytes = Bytes(2 * (m * k + k * n + m * n))};
}

// What a machine with the given constants would have measured.
std::vector<MeasuredKernel> measured_on(const workload::GpuSpec& truth,
                                        const std::vector<std::int64_t>& depths = {256, 1536, 8192}) {
  std::vector<MeasuredKernel> rows;
  for (const std::int64_t m : {1024, 4096, 16384}) {
    for (const std::int64_t n : {768, 2048, 5120, 12288}) {
      for (const std::int64_t k : depths) {
        for (const GemmRole role : {GemmRole::kForward, GemmRole::kDgrad, GemmRole::kWgrad}) {
          MeasuredKernel row{.kernel = gemm(m, n, k, role), .mode = LaunchMode::kGraph};
          row.held_out = is_held_out(row.kernel);
          row.seconds = predicted_seconds(row, truth);
          rows.push_back(row);
        }
      }
    }
  }
  return rows;
}

TEST(KernelFit, FindsTheConstantsOfAMachineThatFollowsTheRules) {
  workload::GpuSpec truth = machine();
  truth.kernels[kGemmHalfShare] = 0.88;
  truth.kernels[kGemmDgradSpeed] = 0.93;
  truth.kernels[kGemmWgradSpeed] = 0.85;
  truth.kernels[kGemmRamp] = 300.0;
  const KernelFit fit = fit_kernels(machine(), measured_on(truth));
  EXPECT_NEAR(fit.profile[kGemmHalfShare], 0.88, 0.02);
  EXPECT_NEAR(fit.profile[kGemmDgradSpeed], 0.93, 0.02);
  EXPECT_NEAR(fit.profile[kGemmWgradSpeed], 0.85, 0.02);
  EXPECT_NEAR(fit.profile[kGemmRamp], 300.0, 40.0);
}

// k of 16 makes 16 operations for a byte at most, where the machine has time for 150.
TEST(KernelFit, FindsTimeThatNeitherArithmeticNorBytesHide) {
  workload::GpuSpec truth = machine();
  truth.kernels[kGemmExposed] = truth.kernels[kGemmExposedResults] = 0.6;
  truth.kernels[kGemmMemoryShare] = 0.7;
  const KernelFit fit = fit_kernels(machine(), measured_on(truth, {16, 256, 1536}));
  EXPECT_NEAR(fit.profile[kGemmExposed], 0.6, 0.1);
  EXPECT_NEAR(fit.profile[kGemmMemoryShare], 0.7, 0.1);
}

// Rows of FlashAttention-2 on a GPU of Hopper's kind do not move the constants of its fastest attention, and are
// predicted with their own.
TEST(KernelFit, AnOlderFlashAttentionHasConstantsOfItsOwn) {
  workload::GpuSpec start = machine();
  start.compute_capability = 9.0;
  const auto rows_of = [](const std::string& op, double share) {
    workload::GpuSpec truth = machine();
    truth.kernels[kAttentionForwardShare] = share;
    truth.kernels[kAttentionBackwardShare] = 0.8 * share;
    std::vector<MeasuredKernel> rows;
    for (const std::int64_t length : {1024, 2048, 4096, 8192, 16384}) {
      for (const std::int64_t heads : {16, 64, 256}) {
        for (const KernelFamily family : {KernelFamily::kAttentionForward, KernelFamily::kAttentionBackward}) {
          const double flops = (family == KernelFamily::kAttentionForward ? 4.0 : 10.0) * 128.0 *
                               static_cast<double>(length * length * heads);
          MeasuredKernel row{.kernel = {.family = family,
                                        .name = op,
                                        .m = length,
                                        .n = length,
                                        .k = 128,
                                        .batch = heads,
                                        .flops = Flops(flops)},
                             .mode = LaunchMode::kGraph};
          row.held_out = is_held_out(row.kernel);
          row.seconds = predicted_seconds(row, truth);
          rows.push_back(row);
        }
      }
    }
    return rows;
  };
  std::vector<MeasuredKernel> rows = rows_of("cudnn", 0.8);
  const KernelFit fastest = fit_kernels(start, rows);
  std::ranges::copy(rows_of("flash2", 0.4), std::back_inserter(rows));
  const KernelFit both = fit_kernels(start, rows);
  EXPECT_EQ(both.profile.values, fastest.profile.values);
  ASSERT_EQ(both.fitted_releases.size(), 1U);
  EXPECT_EQ(both.fitted_releases.front().release, 2);

  workload::GpuSpec fitted = start;
  fitted.kernels = both.profile;
  for (const MeasuredKernel& row : rows) {
    EXPECT_NEAR(predicted_seconds(row, fitted) / row.seconds, 1.0, 0.05) << row.kernel.name << " " << row.kernel.m;
  }
  EXPECT_THAT(profile_yaml(both, {.gpu = "machine"}), testing::HasSubstr("flash_attention:\n  - release: 2\n"));
}

// Gradients of weights that are added to sums in fp32 tell results from operands.
TEST(KernelFit, FindsWhatArithmeticDoesNotHideOfResults) {
  workload::GpuSpec truth = machine();
  truth.kernels[kGemmExposed] = 0.1;
  truth.kernels[kGemmExposedResults] = 0.6;
  std::vector<MeasuredKernel> rows = measured_on(truth, {16, 256, 1536});
  for (MeasuredKernel& row : rows) {
    Kernel& kernel = row.kernel;
    if (kernel.role == GemmRole::kWgrad) kernel.bytes += Bytes(6 * kernel.m * kernel.n);
    row.seconds = predicted_seconds(row, truth);
  }
  const KernelFit fit = fit_kernels(machine(), rows);
  EXPECT_NEAR(fit.profile[kGemmExposed], 0.1, 0.1);
  EXPECT_NEAR(fit.profile[kGemmExposedResults], 0.6, 0.1);
}

// k of 8192 between sides of 2048 and more makes 1000 operations for a byte and more: nothing waits for memory.
TEST(KernelFit, DoesNotFitMemoryToComputeBoundGemms) {
  workload::GpuSpec truth = machine();
  truth.kernels[kGemmExposed] = 0.6;
  std::vector<MeasuredKernel> rows = measured_on(truth);
  std::erase_if(rows, [](const MeasuredKernel& row) {
    return std::min({row.kernel.m, row.kernel.n, row.kernel.k}) < 1536;
  });
  const KernelFit fit = fit_kernels(machine(), rows);
  EXPECT_THAT(fit.fitted, testing::Contains(kGemmRamp));
  EXPECT_THAT(fit.fitted, testing::Not(testing::Contains(kGemmExposed)));
  EXPECT_THAT(fit.fitted, testing::Not(testing::Contains(kGemmMemoryShare)));
  EXPECT_DOUBLE_EQ(fit.profile[kGemmExposed], 0.0);
}

TEST(KernelFit, LeavesTheTimeOfThePowerLimitAsItWas) {
  workload::GpuSpec gpu = machine();
  gpu.kernels[kGemmPowerTime] = 3e-4;
  const KernelFit fit = fit_kernels(gpu, measured_on(gpu));
  EXPECT_THAT(fit.fitted, testing::Contains(kGemmSustained));
  EXPECT_DOUBLE_EQ(fit.profile[kGemmPowerTime], 3e-4);
}

TEST(KernelFit, IsTheSameEachTime) {
  workload::GpuSpec truth = machine();
  truth.kernels[kGemmHalfShare] = 0.7;
  std::vector<MeasuredKernel> rows = measured_on(truth);
  rows.resize(40);
  const KernelFit one = fit_kernels(machine(), rows);
  const KernelFit other = fit_kernels(machine(), rows);
  EXPECT_EQ(one.profile.values, other.profile.values);
}

TEST(KernelFit, DoesNotUseRowsThatAreHeldOut) {
  workload::GpuSpec truth = machine();
  std::vector<MeasuredKernel> rows = measured_on(truth);
  rows.resize(30);
  std::vector<MeasuredKernel> spoilt = rows;
  ASSERT_TRUE(std::ranges::any_of(rows, &MeasuredKernel::held_out));
  for (MeasuredKernel& row : spoilt) row.seconds *= row.held_out ? 10.0 : 1.0;
  EXPECT_EQ(fit_kernels(machine(), rows).profile.values, fit_kernels(machine(), spoilt).profile.values);
}

TEST(KernelFit, FewRowsFitSharesAndLeaveTheRest) {
  MeasuredKernel row{.kernel = gemm(8192, 8192, 8192, GemmRole::kForward), .mode = LaunchMode::kGraph};
  workload::GpuSpec truth = machine();
  truth.kernels[kGemmHalfShare] = 0.6;
  row.seconds = predicted_seconds(row, truth);
  const KernelFit fit = fit_kernels(machine(), std::vector{row});
  EXPECT_THAT(fit.fitted, testing::ElementsAre(kGemmHalfShare));
  EXPECT_NEAR(fit.profile[kGemmHalfShare], 0.6, 0.03);
  EXPECT_DOUBLE_EQ(fit.profile[kGemmRamp], machine().kernels[kGemmRamp]);
  EXPECT_DOUBLE_EQ(fit.profile[kGemmSmallest], 8192.0);
  EXPECT_DOUBLE_EQ(fit.profile[kGemmLargest], 8192.0);
}

TEST(KernelProfileText, IsReadBackAsItWasFitted) {
  KernelFit fit{.profile = workload::class_profile(), .fitted = {kGemmHalfShare, kStreamGap}};
  fit.profile[kGemmHalfShare] = 0.8123;
  fit.profile[kStreamGap] = 1.234e-6;
  fit.profile[kGemmLargest] = 4096.0;
  const std::string text = profile_yaml(fit, {.gpu = "machine", .sources = {"a \"quoted\" source"}});
  auto document = ConfigDocument::load_text("p.yaml", text);
  ASSERT_TRUE(document) << render(document.error());
  ConfigMap root = document->root();
  const workload::KernelProfile read = workload::read_kernel_profile(root);
  document->check_all_read();
  EXPECT_TRUE(document->log().diagnostics().all().empty()) << render(document->log().diagnostics());
  EXPECT_EQ(read.name, "machine");
  EXPECT_EQ(read.evidence, Evidence::kCalibrated);
  for (const auto& spec : workload::kernel_constants()) {
    EXPECT_NEAR(read[spec.id], fit.profile[spec.id], 1e-3 * std::max(fit.profile[spec.id], 1e-9)) << spec.name;
  }
}

}  // namespace
}  // namespace ringwright::validation::kernel_fit_test
