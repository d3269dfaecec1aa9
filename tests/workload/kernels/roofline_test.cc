#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/config/config_document.h"
#include "workload/builtin.h"
#include "workload/options/training_options.h"

namespace ringwright::workload::roofline_test {
namespace {

using namespace ringwright::literals;

// 100 multiprocessors, 100 TFLOP/s, 1000 GB/s, launches of 2 us.
constexpr const char* kGpu =
    "gpu: {name: test, peak: {bf16: 100TFLOPS}, memory: 80GB, memory_bandwidth: 1000GB/s, sms: 100, kernel_launch: "
    "2us}\n";

struct Machine {
  explicit Machine(const std::string& compute)
      : document(ConfigDocument::load_text("gpu.yaml", std::string(kGpu) + "compute: " + compute + "\n").value()) {
    ConfigMap gpu_map = document.root().map("gpu", "the GPU");
    ConfigMap compute_map = document.root().map("compute", "the model");
    gpu = read_gpu_spec(gpu_map);
    model = read_compute_model(compute_map, gpu);
    document.check_all_read();
  }
  ConfigDocument document;
  GpuSpec gpu;
  std::unique_ptr<ComputeModel> model;
};

Kernel product(std::int64_t m, std::int64_t n, std::int64_t k) {
  return {.family = KernelFamily::kGemm,
          .name = "product",
          .m = m,
          .n = n,
          .k = k,
          .flops = Flops(2.0 * static_cast<double>(m * n * k)),
          .bytes = Bytes(2 * (m * k + k * n + m * n))};
}

// 1 MB at 1000 GB/s with half of the multiprocessors: those are lost to the kernels next to it for 1 us.
TEST(Roofline, AConcurrentCopyCostsTheMultiprocessorsThatItNeeds) {
  const Machine machine("{memory_efficiency: 1}");
  Kernel copy{.family = KernelFamily::kCopy, .name = "copy", .bytes = Bytes(1'000'000)};
  EXPECT_EQ(machine.model->duration(copy), 1_us + machine.model->launch_overhead(copy));
  copy.concurrent = true;
  EXPECT_EQ(machine.model->duration(copy), Duration(500'000));
}

TEST(Roofline, AGemmThatFillsAllMultiprocessorsRunsAtTheGivenShareOfPeak) {
  const Machine machine("{gemm_efficiency: 0.5}");
  // 2560 x 1280 is 100 tiles of 256 x 128: one full wave. 2 * 2560 * 1280 * 10000 FLOP at 50 TFLOP/s = 1310.72 us.
  EXPECT_EQ(machine.model->duration(product(2560, 1280, 10'000)), Duration(1'310'720'000) + 2_us);
}

TEST(Roofline, ALastWaveThatIsNearlyEmptyTakesAsLongAsAFullOne) {
  const Machine machine("{gemm_efficiency: 0.5}");
  const Duration full = machine.model->duration(product(2560, 2560, 1'000));        // 200 tiles, two waves
  const Duration more = machine.model->duration(product(2560 + 256, 2560, 1'000));  // 220 tiles, three waves
  EXPECT_GT(ratio(more, full), 1.2);                                                // and not 1.1
  EXPECT_LE(ratio(more, full), 1.5);
}

TEST(Roofline, ALongGemmOfFewTilesIsSplitAlongK) {
  const Machine machine("{gemm_efficiency: 1, memory_efficiency: 1}");
  // 10 tiles of 256 x 128 keep a tenth of the machine busy; the best small tiling, 64 x 64 at 0.65, keeps 80 tiles
  // busy.
  const Kernel deep = product(1280, 256, 100'000);
  const double share = deep.flops.count() / 100e12 / to_seconds(machine.model->duration(deep) - 2_us);
  EXPECT_GT(share, 0.65);  // four or eight pieces of k
  EXPECT_LE(share, 0.90);
}

TEST(Roofline, AKernelWithoutArithmeticRunsAtMemorySpeed) {
  const Machine machine("{memory_efficiency: 80%}");
  const Kernel copy{.family = KernelFamily::kElementwise, .name = "add", .bytes = Bytes(800'000'000)};
  EXPECT_EQ(machine.model->duration(copy), 1_ms + 2_us);  // 0.8 GB at 800 GB/s
}

TEST(Roofline, AThinGemmIsBoundByMemory) {
  const Machine machine("{gemm_efficiency: 1, memory_efficiency: 1}");
  const Kernel thin = product(16, 8192, 8192);
  EXPECT_EQ(machine.model->duration(thin), transfer_time(thin.bytes, 1000_GBps) + 2_us);
}

TEST(Roofline, AttentionHasEfficienciesOfItsOwn) {
  const Machine machine("{attention_forward_efficiency: 0.5, attention_backward_efficiency: 0.25}");
  const Kernel forward{.family = KernelFamily::kAttentionForward, .name = "attention", .flops = Flops(50e9)};
  Kernel backward = forward;
  backward.family = KernelFamily::kAttentionBackward;
  EXPECT_EQ(machine.model->duration(forward), 1_ms + 2_us);
  EXPECT_EQ(machine.model->duration(backward), 2_ms + 2_us);
}

TEST(Roofline, WorkTakesAllLaunchesOfAllKernels) {
  const Machine machine("{memory_efficiency: 1}");
  Kernel copy{.family = KernelFamily::kCopy, .name = "copy", .bytes = Bytes(1'000'000)};
  copy.launches = 3;
  EXPECT_EQ(duration(*machine.model, Work{.name = "work", .kernels = {copy, copy}}), Duration(6) * 1'000'000 + 12_us);
}

TEST(Roofline, RecordedWorkTakesItsTimeAlsoDuringCommunication) {
  const Machine machine("{memory_efficiency: 1}");
  const Work recorded{.name = "recorded", .kernels = {}, .recorded = 7_us};
  EXPECT_EQ(duration(*machine.model, recorded), 7_us);
  EXPECT_EQ(duration_under(*machine.model, recorded, {.sms = 20}), 7_us);
}

TEST(Roofline, DefaultEfficienciesAreListedAsAssumed) {
  const Machine machine("{gemm_efficiency: 0.7}");
  std::vector<std::string> paths;
  for (const Assumption& assumption : machine.document.log().assumptions()) paths.push_back(assumption.path);
  EXPECT_THAT(paths, testing::IsSupersetOf({"compute.attention_forward_efficiency",
                                            "compute.attention_backward_efficiency", "compute.memory_efficiency"}));
  EXPECT_THAT(paths, testing::Not(testing::Contains("compute.gemm_efficiency")));
}

TEST(GpuSpec, SuppliesRatesThatFollowFromOthers) {
  const Machine machine("{}");
  EXPECT_EQ(machine.gpu.peak_of(DataType::kFp16), 100_TFLOPS);
  EXPECT_EQ(machine.gpu.peak_of(DataType::kFp32).count(), 100e12 / 16);
  EXPECT_EQ(machine.gpu.peak_of(DataType::kFp8).count(), 0.0);
}

TEST(GpuSpec, NeedsATensorCoreRate) {
  auto document = ConfigDocument::load_text(
                      "gpu.yaml", "gpu: {peak: {fp32: 10TFLOPS}, memory: 80GB, memory_bandwidth: 1000GB/s, sms: 80}\n")
                      .value();
  ConfigMap gpu = document.root().map("gpu", "the GPU");
  static_cast<void>(read_gpu_spec(gpu));
  ASSERT_EQ(document.log().diagnostics().all().size(), 1U);
  EXPECT_EQ(document.log().diagnostics().all()[0].message, "gpu.peak names neither bf16 nor fp16");
}

TEST(GpuSpec, RefusesAPrecisionThatTheGpuDoesNotHave) {
  GpuSpec gpu;
  gpu.name = "V100";
  gpu.peak[static_cast<std::size_t>(DataType::kFp16)] = 125_TFLOPS;
  auto document = ConfigDocument::load_text("t.yaml", "training: {global_batch: 1, precision: bf16}\n").value();
  ConfigMap training = document.root().map("training", "the training");
  const TrainingOptions options = read_training_options(training);
  check_precision(training, options, gpu);
  ASSERT_EQ(document.log().diagnostics().all().size(), 1U);
  EXPECT_EQ(document.log().diagnostics().all()[0].message,
            "training.precision = bf16, but V100 has no bf16 arithmetic (cluster.node.gpu.peak)");
}

}  // namespace
}  // namespace ringwright::workload::roofline_test
