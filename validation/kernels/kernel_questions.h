// Which rows of measured kernels each constant of a kernel profile depends on.
#pragma once

#include <cstddef>
#include <span>

#include "validation/kernels/kernel_table.h"
#include "workload/gpu/kernel_profile.h"

namespace ringwright::validation {

// A constant is fitted where at least `least` rows depend on it.
struct Question {
  workload::KernelConstant constant = workload::KernelConstant::kCount;
  std::size_t least = 1;
  bool (*answers)(const MeasuredKernel& row) = nullptr;
};

// Enough rows for constants that depend on how speed changes with sizes.
inline constexpr std::size_t kManyRows = 30;

[[nodiscard]] bool any_row(const MeasuredKernel& row);
[[nodiscard]] bool is_cold_row(const MeasuredKernel& row);
[[nodiscard]] std::span<const Question> stream_questions();
[[nodiscard]] std::span<const Question> gemm_questions();
[[nodiscard]] std::span<const Question> attention_questions();

}  // namespace ringwright::validation
