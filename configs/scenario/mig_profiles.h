// The instances into which MIG divides a GPU: names, slices, multiprocessors.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/plan/gpu_sharing.h"
#include "workload/gpu/gpu_spec.h"

namespace ringwright::configs {

inline constexpr int kMigComputeSlices = 7;
inline constexpr int kMigMemorySlices = 8;

struct MigProfile {
  std::string name;  // "3g.40gb": three of the compute slices, 40 GB of memory
  int compute_slices = 0;
  int memory_slices = 0;
  std::int64_t sms = 0;

  // Of a GPU with so many multiprocessors.
  [[nodiscard]] TenantLimits limits(std::int64_t all_sms) const {
    return {.instance_sms = static_cast<double>(sms) / static_cast<double>(all_sms),
            .instance_memory = static_cast<double>(memory_slices) / kMigMemorySlices};
  }
};

// Those of the GPU; empty where it has no MIG, or its profiles are not known here.
[[nodiscard]] std::vector<MigProfile> mig_profiles(const workload::GpuSpec& gpu);

}  // namespace ringwright::configs
