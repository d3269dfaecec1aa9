#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/config/config_document.h"
#include "workload/builtin.h"

namespace ringwright::workload::calibrated_test {
namespace {

using namespace ringwright::literals;

using ::testing::HasSubstr;

enum class Warnings { kNone, kExpected };

struct Machine {
  Machine(const std::string& kernels, const std::string& compute, Warnings warnings = Warnings::kNone)
      : document(ConfigDocument::load_text(
                     "gpu.yaml",
                     "gpu: {name: test, peak: {bf16: 100TFLOPS}, memory: 80GB, memory_bandwidth: 1000GB/s, "
                     "sms: 100, kernels: " +
                         kernels + "}\ncompute: " + compute + "\n")
                     .value()) {
    ConfigMap gpu_map = document.root().map("gpu", "the GPU");
    ConfigMap compute_map = document.root().map("compute", "the model");
    gpu = read_gpu_spec(gpu_map);
    model = read_compute_model(compute_map, gpu);
    document.check_all_read();
    EXPECT_EQ(document.log().diagnostics().all().empty(), warnings == Warnings::kNone);
  }
  ConfigDocument document;
  GpuSpec gpu;
  std::unique_ptr<ComputeModel> model;
};

// 1 MB at 1000 GB/s: 1 us each.
Work small_copies(std::int64_t launches) {
  return {
      .name = "copies",
      .kernels = {{.family = KernelFamily::kCopy, .name = "copy", .bytes = Bytes(1'000'000), .launches = launches}}};
}
constexpr const char* kStream = "{name: t, stream: {share: 100%, gap: 1us}, grouped: {issue: 3us}}";

TEST(Calibrated, EveryKernelAndEveryCallCostsTheHostTheTimeToIssueIt) {
  const Machine machine(kStream, "{model: calibrated, host_issue: 5us}");
  EXPECT_EQ(duration(*machine.model, small_copies(10)), 20_us);
  EXPECT_EQ(issue_time(*machine.model, small_copies(10)), 50_us);
  EXPECT_EQ(machine.model->call_issue_time(), 5_us);
}

TEST(Calibrated, AConcurrentCopyCostsTheMultiprocessorsThatItNeeds) {
  const Machine machine(kStream, "{model: calibrated, step_speed: 80%}");
  Work work = small_copies(1);
  work.kernels.front().concurrent = true;
  EXPECT_EQ(duration(*machine.model, work), Duration(1'000'000 / 2 * 10 / 8));
}

TEST(Calibrated, CudaGraphsReplayWithoutTheHost) {
  const Machine machine(kStream, "{model: calibrated, host_issue: 5us, cuda_graphs: true}");
  EXPECT_EQ(issue_time(*machine.model, small_copies(10)), 0_us);
  EXPECT_EQ(machine.model->call_issue_time(), 0_us);
}

TEST(Calibrated, AHostThatWaitsForEachKernelAddsItsTimeToEach) {
  const Machine machine(kStream, "{model: calibrated, host_issue: 5us, launch_blocking: true}");
  EXPECT_EQ(duration(*machine.model, small_copies(10)), 70_us);  // (2 us + 5 us) x 10
  EXPECT_EQ(issue_time(*machine.model, small_copies(10)), 0_us);
}

// 1 us of gap and 1 us of copying per MB.
TEST(Calibrated, AHostThatIsOneKernelAheadAtMostBoundsEachKernelByItsTime) {
  const Machine machine(kStream, "{model: calibrated, host_issue: 5us, serial_launches: true}");
  EXPECT_EQ(duration(*machine.model, small_copies(10)), 50_us);  // 5 us, more than 2 us
  const Kernel large{.family = KernelFamily::kCopy, .name = "large", .bytes = Bytes(7'000'000)};
  EXPECT_EQ(machine.model->duration(large), 8_us);
  EXPECT_EQ(issue_time(*machine.model, small_copies(10)), 0_us);
  EXPECT_EQ(machine.model->call_issue_time(), 0_us);
}

TEST(Calibrated, OnlyOnePaceOfTheHostHolds) {
  const Machine blocking(kStream, "{model: calibrated, host_issue: 5us, launch_blocking: true, serial_launches: true}",
                         Warnings::kExpected);
  EXPECT_EQ(duration(*blocking.model, small_copies(10)), 70_us);
  EXPECT_THAT(render(blocking.document.log().diagnostics()), HasSubstr("W131"));
  const Machine graphs(kStream, "{model: calibrated, host_issue: 5us, cuda_graphs: true, serial_launches: true}",
                       Warnings::kExpected);
  EXPECT_EQ(duration(*graphs.model, small_copies(10)), 20_us);
  EXPECT_THAT(render(graphs.document.log().diagnostics()), HasSubstr("compute.serial_launches has no effect"));
}

TEST(Calibrated, AHostComesBackFromAWaitInItsOwnTime) {
  EXPECT_EQ(Machine(kStream, "{model: calibrated, host_issue: 5us}").model->resume_time(), 0_us);
  EXPECT_EQ(Machine(kStream, "{model: calibrated, host_issue: 5us, host_resume: 300us}").model->resume_time(), 300_us);
  EXPECT_EQ(Machine("{}", "{model: roofline}").model->resume_time(), 0_us);
}

TEST(Calibrated, KernelsOfAStepMayBeSlowerThanAlone) {
  const Machine machine(kStream, "{model: calibrated, host_issue: 5us, step_speed: 80%}");
  EXPECT_EQ(duration(*machine.model, small_copies(10)), 25_us);  // 20 us / 0.8
}

TEST(Calibrated, TheProfileSetsHowMuchSlowerStepsAreUnlessTheJobDoes) {
  const std::string profile = std::string(kStream).substr(0, std::string(kStream).rfind('}')) + ", step: {speed: 50%}}";
  const Machine machine(profile, "{model: calibrated, host_issue: 5us}");
  EXPECT_EQ(duration(*machine.model, small_copies(10)), 40_us);  // 20 us / 0.5
  const Machine configured(profile, "{model: calibrated, host_issue: 5us, step_speed: 100%}");
  EXPECT_EQ(duration(*configured.model, small_copies(10)), 20_us);
}

TEST(Calibrated, FusedAttentionHasItsOwnSpeed) {
  const std::string given = "{model: calibrated, host_issue: 0us, step_speed: 50%}";
  const std::string profile = std::string(kStream).substr(0, std::string(kStream).rfind('}'));
  const Kernel attention{.family = KernelFamily::kAttentionForward,
                         .name = "attention",
                         .m = 4096,
                         .n = 4096,
                         .k = 128,
                         .batch = 64,
                         .flops = Flops(1e12)};
  const auto alone = Machine(profile + "}", "{model: calibrated, host_issue: 0us}").model->duration(attention);
  EXPECT_EQ(Machine(profile + "}", given).model->duration(attention), alone);
  const Machine slower(profile + ", step: {attention_speed: 50%}}", given);
  EXPECT_NEAR(to_seconds(slower.model->duration(attention)), 2.0 * to_seconds(alone), 1e-12);
}

TEST(Calibrated, LibrariesAddTheirOwnTimeOfTheHost) {
  const Machine machine(kStream, "{model: calibrated, host_issue: 5us}");
  const Kernel grouped{.family = KernelFamily::kGroupedGemm, .name = "experts", .m = 1, .n = 1, .k = 1, .batch = 4};
  EXPECT_EQ(machine.model->issue_time(grouped), 5_us + 4 * 3_us);
}

// A turn takes 3 us (kStream's grouped.issue) instead of an operator's 5.
TEST(Calibrated, TurnsOfALoopAreNoOperatorsOfTheFramework) {
  const Machine machine(kStream, "{model: calibrated, host_issue: 5us}");
  Work copies = small_copies(10);
  copies.kernels[0].issue = KernelIssue::kLoop;
  EXPECT_EQ(issue_time(*machine.model, copies), 30_us);
  copies.kernels[0].issue = KernelIssue::kTogether;
  EXPECT_EQ(issue_time(*machine.model, copies), 0_us);
}

// 1 us and a gap of 1 us on the device, 5 us of the host.
TEST(Calibrated, AHostWithoutALeadSetsThePaceOfSmallKernels) {
  Work paced = small_copies(10);
  paced.kernels[0].host_paced = true;
  EXPECT_EQ(duration(*Machine(kStream, "{model: calibrated, host_issue: 5us}").model, paced), 50_us);
  EXPECT_EQ(duration(*Machine(kStream, "{model: calibrated, host_issue: 1us}").model, paced), 20_us);
  EXPECT_EQ(duration(*Machine(kStream, "{model: calibrated, host_issue: 5us, cuda_graphs: true}").model, paced), 20_us);
}

TEST(Calibrated, AnUnmeasuredGpuIsReportedToHaveClassValues) {
  const Machine machine("{}", "{model: calibrated, host_issue: 5us}");
  ASSERT_FALSE(machine.document.log().assumptions().empty());
  EXPECT_EQ(machine.document.log().assumptions().back().path, "compute.model");
  EXPECT_EQ(Machine("{name: t}", "{model: calibrated}").document.log().assumptions().back().path, "compute.host_issue");
}

// 1000 blocks of fused attention at 90 % of the peak, and at 45 % with FlashAttention-2.
TEST(Calibrated, TheReleaseOfFlashAttentionCanBeChosen) {
  const std::string kernels =
      "{name: t, stream: {gap: 0us}, attention: {forward_share: 90%, score_cost: 0, tail: 0}, "
      "flash_attention: [{release: 2, forward_share: 45%}]}";
  Work work{.name = "attention",
            .kernels = {{.family = KernelFamily::kAttentionForward,
                         .name = "attention",
                         .m = 1280,
                         .n = 1280,
                         .k = 64,
                         .batch = 100,
                         .flops = Flops(4.0 * 1280 * 1280 * 64 * 100)}}};
  const auto seconds = [&](const std::string& compute, Warnings warnings = Warnings::kNone) {
    return to_seconds(duration(*Machine(kernels, compute, warnings).model, work));
  };
  const double fastest = seconds("{model: calibrated}");
  EXPECT_NEAR(fastest, work.kernels.front().flops.count() / 90e12, 1e-8);
  EXPECT_DOUBLE_EQ(seconds("{model: calibrated, flash_attention: auto}"), fastest);
  EXPECT_NEAR(seconds("{model: calibrated, flash_attention: 2}"), 2.0 * fastest, 1e-8);
  EXPECT_DOUBLE_EQ(seconds("{model: calibrated, flash_attention: 1}", Warnings::kExpected), fastest);
}

TEST(Calibrated, TheNewestFlashAttentionIsTheFastestUpToHopper) {
  GpuSpec gpu;
  const auto newest = [&](double capability) {
    gpu.compute_capability = capability;
    return newest_flash_attention(gpu);
  };
  EXPECT_EQ(newest(7.0), 0);
  EXPECT_EQ(newest(8.0), 2);
  EXPECT_EQ(newest(9.0), 3);
  EXPECT_EQ(newest(10.0), 4);
  gpu.nvidia = false;
  EXPECT_EQ(newest(9.0), 0);
}

TEST(Calibrated, KernelsBeyondTheFitAreExtrapolated) {
  const Machine machine("{name: t, stream: {smallest: 1000, largest: 2000000}}",
                        "{model: calibrated, host_issue: 5us}");
  EXPECT_FALSE(machine.model->extrapolates(small_copies(1).kernels[0]));
  EXPECT_TRUE(machine.model->extrapolates({.family = KernelFamily::kCopy, .name = "large", .bytes = Bytes(3'000'000)}));
}

TEST(Roofline, LooksAtNoHostAndExtrapolatesNothing) {
  const Machine machine("{}", "{model: roofline}");
  EXPECT_EQ(machine.model->issue_time(small_copies(1).kernels[0]), 0_us);
  EXPECT_FALSE(machine.model->extrapolates(small_copies(1).kernels[0]));
}

}  // namespace
}  // namespace ringwright::workload::calibrated_test
