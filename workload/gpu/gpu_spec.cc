#include "workload/gpu/gpu_spec.h"

#include <array>

namespace ringwright::workload {
namespace {

using namespace ringwright::literals;

// Studies write infinitely fast as 1e9PFLOPS or 1e9TB/s; larger values are mistakes.
constexpr FlopRate kHighestPeak = FlopRate(1e25);
constexpr Bandwidth kFastestMemory = Bandwidth(1e22);
constexpr Bytes kLargestMemory = 102'400_GiB;

FlopRate& peak_slot(GpuSpec& gpu, DataType type) {
  return gpu.peak[static_cast<std::size_t>(type)];
}

void read_peaks(ConfigMap& peak, GpuSpec& gpu) {
  const auto read = [&](DataType type, std::string_view doc) {
    peak_slot(gpu, type) = peak.flop_rate(
        {.name = to_string(type), .doc = doc, .fallback = FlopRate(0.0), .min = FlopRate(0.0), .max = kHighestPeak});
  };
  read(DataType::kBf16, "dense GEMMs in bf16");
  read(DataType::kFp16, "dense GEMMs in fp16");
  read(DataType::kTf32, "dense GEMMs in tf32");
  read(DataType::kFp32, "fp32 arithmetic outside tensor cores");
  read(DataType::kFp8, "dense GEMMs in fp8");
  read(DataType::kFp4, "dense GEMMs in fp4");
}

// GPUs with bf16 tensor cores run fp16 at the same rate (NVIDIA data sheets from A100 on, AMD from MI200 on). The
// reverse does not hold: a V100 has no bf16.
void supply_peaks(ConfigMap& peak, GpuSpec& gpu) {
  const FlopRate bf16 = gpu.peak_of(DataType::kBf16);
  FlopRate& fp16 = peak_slot(gpu, DataType::kFp16);
  if (fp16 <= FlopRate(0.0) && bf16 > FlopRate(0.0)) {
    fp16 = bf16;
    peak.assume("fp16", to_string(bf16), "as fast as bf16 on GPUs that have both");
  }
  FlopRate& fp32 = peak_slot(gpu, DataType::kFp32);
  if (fp32 <= FlopRate(0.0)) fp32 = gpu.peak_of(DataType::kTf32);
  if (fp32 <= FlopRate(0.0) && fp16 > FlopRate(0.0)) {
    // V100 125 / 15.7, A100 312 / 19.5, H100 989 / 67: between an eighth and a sixteenth.
    fp32 = fp16 / 16.0;
    peak.assume("fp32", to_string(fp32), "a sixteenth of the tensor-core rate");
  }
  if (fp16 <= FlopRate(0.0) && !peak.documenting()) {
    peak.error("", "E135", peak.path() + " names neither bf16 nor fp16", "add for example `bf16: 989.4TFLOPS`");
    fp16 = peak_slot(gpu, DataType::kBf16) = 1_TFLOPS;
  }
}

}  // namespace

int newest_flash_attention(const GpuSpec& gpu) {
  constexpr double kAmpere = 8.0, kHopper = 9.0, kBlackwell = 10.0;
  if (!gpu.nvidia || gpu.compute_capability < kAmpere) return 0;
  if (gpu.compute_capability < kHopper) return 2;
  return gpu.compute_capability < kBlackwell ? 3 : 4;
}

GpuSpec read_gpu_spec(ConfigMap& gpu) {
  GpuSpec spec;
  spec.name = gpu.text({.name = "name", .doc = "name of the GPU in reports", .fallback = "gpu"});
  constexpr std::array kVendors = {Option{.name = "nvidia", .doc = "the library is NCCL"},
                                   Option{.name = "amd", .doc = "the library is RCCL"}};
  spec.nvidia = gpu.choice({.name = "vendor", .doc = "vendor of the GPU", .fallback = "nvidia"}, kVendors) == "nvidia";
  spec.compute_capability = gpu.number({.name = "compute_capability",
                                        .doc = "CUDA compute capability, e.g. 9.0; selects NCCL's tables",
                                        .fallback = 0.0,
                                        .min = 0.0,
                                        .max = 99.0});
  ConfigMap peak = gpu.map("peak", "peak rates without sparsity, by data type");
  read_peaks(peak, spec);
  supply_peaks(peak, spec);
  spec.evidence = peak.evidence(peak.has("bf16") ? "bf16" : "fp16");
  spec.memory = gpu.bytes({.name = "memory", .doc = "device memory", .min = 1_B, .max = kLargestMemory});
  spec.memory_bandwidth = gpu.bandwidth(
      {.name = "memory_bandwidth", .doc = "device memory bandwidth", .min = Bandwidth(1.0), .max = kFastestMemory});
  spec.sms = gpu.integer({.name = "sms", .doc = "streaming multiprocessors (compute units)", .min = 1, .max = 100'000});
  spec.l2 = gpu.bytes({.name = "l2", .doc = "last-level cache", .fallback = 0_B, .min = 0_B, .max = kLargestMemory});
  spec.kernel_launch = gpu.duration({.name = "kernel_launch",
                                     .doc = "fixed time of each kernel in addition to its arithmetic and its bytes",
                                     .fallback = 4_us,
                                     .min = 0_us,
                                     .max = 1_s});
  spec.host_issue = gpu.duration({.name = "host_issue",
                                  .doc = "host time of the framework to issue one kernel, where compute.host_issue is "
                                         "not given: of the CPU that is on one module with the GPU",
                                  .fallback = kHostIssue,
                                  .min = 0_us,
                                  .max = 1_ms});
  ConfigMap kernels =
      gpu.map("kernels", "how fast the GPU runs each family of kernels; `preset` names a shipped profile");
  spec.kernels = read_kernel_profile(kernels);
  return spec;
}

}  // namespace ringwright::workload
