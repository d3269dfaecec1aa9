// Kernels of a section, split for communication that overlaps a GEMM: a GEMM in equal shares of its rows, and the
// kernels before and after it.
#pragma once

#include <vector>

#include "core/plan/kernel.h"

namespace ringwright::workload {

// The number of shares of the first and the last GEMM of this role; 0: not split.
struct GemmShares {
  GemmRole role = GemmRole::kForward;
  int first = 0;
  int last = 0;
};

// `first` and `last` are one share each, with the quantisation of its input.
struct CutKernels {
  std::vector<Kernel> head;
  std::vector<Kernel> first;
  std::vector<Kernel> middle;
  std::vector<Kernel> last;
  std::vector<Kernel> tail;
};
[[nodiscard]] CutKernels split_gemms(const std::vector<Kernel>& kernels, const GemmShares& shares);

}  // namespace ringwright::workload
