#include "configs/scenario/gpu_preset.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/scenario/scenario.h"
#include "tests/paths.h"

namespace ringwright::configs::gpu_preset_test {
namespace {

std::vector<std::string> shipped(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(share_dir() + "/" + folder)) {
    names.push_back(entry.path().stem().string());
  }
  return names;
}

TEST(GpuPreset, EveryShippedGpuHasAProfileOfItsKernels) {
  for (const std::string& name : shipped("gpus")) {
    const auto preset = load_gpu(name);
    ASSERT_TRUE(preset) << name << render(preset.error());
    EXPECT_FALSE(preset->gpu.kernels.name.empty()) << name;
  }
}

TEST(GpuPreset, EveryShippedProfileIsUsedByTheGpuOfItsName) {
  for (const std::string& name : shipped("kernels")) {
    const auto preset = load_gpu(name);
    ASSERT_TRUE(preset) << name << render(preset.error());
    EXPECT_EQ(preset->gpu.kernels.name, name);
  }
}

TEST(GpuPreset, AGpuThatNobodyMeasuredSaysThatItsProfileIsAssumed) {
  EXPECT_EQ(load_gpu("a100-pcie-80gb")->gpu.kernels.evidence, Evidence::kCalibrated);
  EXPECT_EQ(load_gpu("a100-sxm4-40gb")->gpu.kernels.evidence, Evidence::kAssumed);
}

TEST(GpuPreset, OverridesNameItsKeys) {
  const auto preset = load_gpu("a100-pcie-80gb", {.overrides = {"gpu.kernels.stream.gap=7us", "gpu.sms=100"}});
  ASSERT_TRUE(preset) << render(preset.error());
  EXPECT_DOUBLE_EQ(preset->gpu.kernels[workload::KernelConstant::kStreamGap], 7e-6);
  EXPECT_EQ(preset->gpu.sms, 100);
}

TEST(GpuPreset, ItsProfileKnowsWhichSharesOfPeakWereMeasuredOnIt) {
  const auto borrows = [](const char* name, workload::KernelConstant share) {
    return load_gpu(name)->gpu.kernels.assumed[static_cast<std::size_t>(share)];
  };
  using enum workload::KernelConstant;
  EXPECT_FALSE(borrows("h100-sxm5-80gb", kGemmHalfShare));
  EXPECT_TRUE(borrows("h800-sxm-80gb", kGemmHalfShare));
  EXPECT_FALSE(borrows("h800-sxm-80gb", kGemmFp8Share));
  EXPECT_TRUE(borrows("gb200", kGemmHalfShare));
  EXPECT_FALSE(borrows("gb200", kGemmFp8Share));
  EXPECT_FALSE(borrows("b200-sxm-192gb", kGemmFp4Share));
  EXPECT_TRUE(borrows("b200-sxm-192gb", kGemmFp8Share));
}

// A GPU's missing values are no second mistake where its preset does not exist.
TEST(GpuPreset, AnUnknownOneIsOneMistake) {
  const auto unknown = load_gpu("h20");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().error_count(), 1U) << render(unknown.error());
  const auto scenario = load_scenario_text(
      "job.yaml", "version: 1\nname: x\nmodel: {preset: llama3-8b}\ntraining: {global_batch: 8, micro_batch: 1}\n"
                  "cluster:\n  nodes: 1\n  node: {preset: dgx-h100, gpu: {preset: h20}}\n");
  ASSERT_FALSE(scenario);
  EXPECT_EQ(scenario.error().error_count(), 1U) << render(scenario.error());
}

TEST(GpuPreset, AnUnknownNameIsAMistakeWithAPlace) {
  const auto preset = load_gpu("a100-pcle-80gb");
  ASSERT_FALSE(preset);
  EXPECT_THAT(render(preset.error()), testing::HasSubstr("a100-pcie-80gb"));
}

}  // namespace
}  // namespace ringwright::configs::gpu_preset_test
