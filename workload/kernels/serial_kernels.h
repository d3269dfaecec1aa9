// Kernels whose thread blocks go through steps that depend on each other, as the chunks of a scan: how long a block
// takes, however many multiprocessors idle.
#pragma once

#include "core/plan/kernel.h"
#include "workload/gpu/gpu_spec.h"

namespace ringwright::workload {

// What one multiprocessor reaches.
struct BlockRates {
  double flops = 0.0;      // of GEMMs in the kernel's type, each second
  double bytes = 0.0;      // from the last-level cache, each second
  double tile_load = 0.0;  // elements: tiles of a x b lose 1/(1 + this (1/a + 1/b)) of their speed
};

// Of the whole kernel, without its launch. Its steps are at least one.
[[nodiscard]] double serial_seconds(const Kernel& kernel, std::int64_t sms, const BlockRates& rates);

// By the constants of the GPU's kernels.
[[nodiscard]] double serial_gemm_seconds(const Kernel& kernel, const GpuSpec& gpu);

// Loads of the steps' inputs alone: of kernels without arithmetic.
[[nodiscard]] double serial_load_seconds(const Kernel& kernel);

}  // namespace ringwright::workload
