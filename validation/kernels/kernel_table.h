// Tables of measured kernels (docs/kernel-tables.md) as kernels with times.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/plan/kernel.h"
#include "workload/gpu/gpu_spec.h"

namespace ringwright::validation {

// How a kernel was launched while it was measured.
enum class LaunchMode { kEager, kGraph, kKernel };

struct MeasuredKernel {
  Kernel kernel;
  LaunchMode mode = LaunchMode::kEager;
  double seconds = 0.0;
  bool cold = false;      // operands were not in the cache
  bool held_out = false;  // never fitted
  int line = 0;
  int time_column = 1;  // column of the time in the line
};

struct KernelTable {
  std::string file;
  std::string gpu;  // shipped name
  std::string source;
  std::vector<MeasuredKernel> rows;
};

[[nodiscard]] Result<KernelTable> read_kernel_table(const std::string& path);
// The same for a text in memory; `name` is used in messages.
[[nodiscard]] Result<KernelTable> parse_kernel_table(const std::string& name, std::string_view text);

// "gemm/bf16/1/1536/4096/5120": rows of one shape are fitted together or held out together.
[[nodiscard]] std::string shape_key(const Kernel& kernel);
[[nodiscard]] bool is_held_out(const Kernel& kernel);

// The release of FlashAttention that ran a row ("flash2": 2), where it is not the GPU's fastest attention; else 0.
[[nodiscard]] int older_flash_attention(const MeasuredKernel& row, const workload::GpuSpec& gpu);

// Rows whose arithmetic the GPU does not have are errors of the table, or of the GPU's description.
[[nodiscard]] Diagnostics check_arithmetic(const KernelTable& table, const workload::GpuSpec& gpu);

// Times of another unit: most kernels of the table are far beyond what the GPU can do, or far below what any kernel of
// their size does.
[[nodiscard]] Diagnostics check_units(const KernelTable& table, const workload::GpuSpec& gpu);

// The model's time for a row, launched as it was measured.
[[nodiscard]] double predicted_seconds(const MeasuredKernel& row, const workload::GpuSpec& gpu);

}  // namespace ringwright::validation
