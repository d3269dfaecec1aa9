// Kernels of a piece cut where ranks exchange while a product runs: a product in equal shares of its rows, and what
// comes before and after it.
#pragma once

#include <vector>

#include "core/plan/kernel.h"

namespace ringwright::workload {

// Into how many shares the first and the last product of this role are cut; 0: they stay as they are.
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
