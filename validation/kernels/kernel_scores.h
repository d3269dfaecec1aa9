// Predictions against tables of measured kernels: the rows of each GPU, and their errors by family.
#pragma once

#include <string>
#include <vector>

#include "core/base/diagnostic.h"
#include "validation/fit/error_statistics.h"
#include "validation/kernels/kernel_table.h"

namespace ringwright::validation {

struct ScoredKernel {
  MeasuredKernel row;
  double predicted = 0.0;  // seconds
  std::string file;
};

struct FamilyScore {
  std::string family;  // "gemm fp8"
  ErrorStatistics fitted;
  ErrorStatistics unseen;  // of shapes held out
};

struct GpuScore {
  std::string gpu;
  std::string profile;                // empty: class values
  std::vector<std::string> sources;   // of its tables
  std::vector<ScoredKernel> rows;     // in the order of the tables
  std::vector<FamilyScore> families;  // in the order in which they first come
  ErrorStatistics fitted;
  ErrorStatistics unseen;
};

// The tables of one GPU together, in the order of the files. `overrides` are of the GPU: "gpu.kernels.stream.gap=2us".
[[nodiscard]] Result<std::vector<GpuScore>> score_kernels(const std::vector<std::string>& files,
                                                          const std::vector<std::string>& overrides);
// "gemm fp8": GEMMs by data type, everything else by family.
[[nodiscard]] std::string family_label(const Kernel& kernel);
// "gemm wgrad 4096 x 1024 x 8192, 2 groups".
[[nodiscard]] std::string kernel_label(const Kernel& kernel);
// Largest errors first.
[[nodiscard]] std::vector<const ScoredKernel*> worst_kernels(const GpuScore& score, std::size_t count);

}  // namespace ringwright::validation
