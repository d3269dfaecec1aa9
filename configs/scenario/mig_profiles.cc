// MIG profiles of A100, H100 and H200.
//
// Slices: NVIDIA, "Multi-Instance GPU User Guide", supported profiles. Multiprocessors: printed by
// `nvidia-smi mig -lgip` for an A100 and an H100 SXM; an H200 has the chip of an H100. A GPU in MIG mode does not have
// all of its multiprocessors in instances: seven of 1g have 98 of an A100's 108, and 112 of an H100's 132.
#include "configs/scenario/mig_profiles.h"

#include <array>
#include <cmath>
#include <span>

#include <fmt/format.h>

namespace ringwright::configs {
namespace {

struct Instance {
  int compute = 0;
  int memory = 0;
  std::int64_t sms = 0;
};

constexpr std::array kOfA100{Instance{1, 1, 14}, Instance{1, 2, 14}, Instance{2, 2, 28},
                             Instance{3, 4, 42}, Instance{4, 4, 56}, Instance{7, 8, 98}};
constexpr std::array kOfH100{Instance{1, 1, 16}, Instance{1, 2, 26}, Instance{2, 2, 32},
                             Instance{3, 4, 60}, Instance{4, 4, 64}, Instance{7, 8, 132}};

std::span<const Instance> instances_of(const workload::GpuSpec& gpu) {
  if (!gpu.nvidia) return {};
  if (gpu.name.starts_with("A100") && gpu.sms == 108) return kOfA100;
  const bool hopper = gpu.name.starts_with("H100") || gpu.name.starts_with("H200");
  if (hopper && gpu.sms == 132) return kOfH100;
  return {};
}

// Names have the eighths of the printed size, rounded: 5 and 10 of 40; 18, 35 and 71 of 141.
std::string profile_name(const Instance& instance, const workload::GpuSpec& gpu) {
  const double printed = std::ceil(static_cast<double>(gpu.memory.count()) / static_cast<double>(1LL << 30));
  return fmt::format("{}g.{}gb", instance.compute, std::llround(printed * instance.memory / kMigMemorySlices));
}

}  // namespace

std::vector<MigProfile> mig_profiles(const workload::GpuSpec& gpu) {
  std::vector<MigProfile> profiles;
  for (const Instance& instance : instances_of(gpu)) {
    profiles.push_back({.name = profile_name(instance, gpu),
                        .compute_slices = instance.compute,
                        .memory_slices = instance.memory,
                        .sms = instance.sms});
  }
  return profiles;
}

}  // namespace ringwright::configs
