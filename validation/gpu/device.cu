// The device, its clocks, and the versions of its software.
#include "device.cuh"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include <cublasLt.h>
#include <cuda_runtime.h>

#include "check.cuh"

namespace ringwright::gpu {
namespace {

struct Known {
  const char* device;  // part of the device's name
  const char* key;     // of the shipped GPU
};
// Longer names first, since the first that fits is taken.
constexpr std::array<Known, 17> kKnown = {{{"GH200", "gh200-96gb"},
                                           {"H200 NVL", "h200-nvl-141gb"},
                                           {"H200", "h200-sxm-141gb"},
                                           {"H800", "h800-sxm-80gb"},
                                           {"H100 PCIe", "h100-pcie-80gb"},
                                           {"GB300", "gb300"},
                                           {"B300", "b300-sxm-288gb"},
                                           {"H100 80GB HBM3", "h100-sxm5-80gb"},
                                           {"A100-SXM4-80GB", "a100-sxm4-80gb"},
                                           {"A100-SXM4-40GB", "a100-sxm4-40gb"},
                                           {"A100 80GB PCIe", "a100-pcie-80gb"},
                                           {"GB200", "gb200"},
                                           {"B200", "b200-sxm-192gb"},
                                           {"V100-SXM2-32GB", "v100-sxm2-32gb"},
                                           {"V100-SXM2-16GB", "v100-sxm2-16gb"},
                                           {"V100-SXM3-32GB", "v100-sxm3-32gb"},
                                           {"L40S", "l40s"}}};

std::string version(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

// What a command prints, in one line; empty where it is missing.
std::string output_of(const char* command) {
  std::string text;
  FILE* const pipe = popen((std::string(command) + " 2>/dev/null").c_str(), "r");
  if (pipe == nullptr) return text;
  std::array<char, 256> chunk{};
  while (std::fgets(chunk.data(), static_cast<int>(chunk.size()), pipe) != nullptr) text += chunk.data();
  pclose(pipe);
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::array<char, 16> date{};
  std::strftime(date.data(), date.size(), "%Y-%m-%d", std::gmtime(&now));
  return date.data();
}

}  // namespace

int sm_count() {
  int device = 0;
  int count = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device), "cudaDeviceGetAttribute");
  return count;
}

std::vector<std::string> describe_device(const std::string& gpu_key) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::fprintf(stderr, "error: there is no GPU here, and nothing can be measured\n");
    std::exit(3);
  }
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  const std::string name = properties.name;
  std::string key = gpu_key;
  for (const Known& known : kKnown) {
    if (key.empty() && name.find(known.device) != std::string::npos) key = known.key;
  }
  if (name.find(" MIG ") != std::string::npos) {
    std::fprintf(stderr, "error: '%s' is a slice of a GPU; a profile is of a whole one\n", name.c_str());
    std::exit(2);
  }
  if (key.empty()) {
    std::fprintf(stderr, "error: no shipped GPU is known for '%s'; name one with --gpu\n", name.c_str());
    std::exit(2);
  }
  // nvidia-smi numbers all GPUs of the host, CUDA those that are visible to it.
  std::array<char, 32> bus{};
  check(cudaDeviceGetPCIBusId(bus.data(), static_cast<int>(bus.size()), 0), "cudaDeviceGetPCIBusId");
  const std::string smi = "nvidia-smi --id=" + std::string(bus.data()) + " --format=csv,noheader --query-gpu=";
  int driver = 0;
  int runtime = 0;
  check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  return {
      "gpu: " + key,
      "source: measured by validation/gpu (measure_gpu)",
      "evidence: measured",
      "device: " + name + ", " + std::to_string(properties.multiProcessorCount) + " SMs, " +
          std::to_string(properties.totalGlobalMem >> 20) + " MiB, L2 " + std::to_string(properties.l2CacheSize >> 20) +
          " MiB, compute capability " + std::to_string(properties.major) + "." + std::to_string(properties.minor),
      "clocks: at the start SM, memory: " + output_of((smi + "clocks.sm,clocks.mem").c_str()) +
          "; highest: " + output_of((smi + "clocks.max.sm,clocks.max.mem").c_str()),
      "power: limit, draw at the start: " + output_of((smi + "power.limit,power.draw").c_str()),
      "driver: " + output_of((smi + "driver_version").c_str()) + ", CUDA " + version(driver),
      "cuda: runtime " + version(runtime),
      "libraries: cublasLt " + std::to_string(cublasLtGetVersion()),
      "date: " + today(),
      "method: medians over batches of launches in CUDA graphs (mode graph) or issued one by one (mode eager), 95 % "
      "confidence intervals from order statistics, operands random and rotating through more than twice the L2"};
}

}  // namespace ringwright::gpu
