// Kernels of a section, split for communication that overlaps a GEMM: a GEMM in equal shares of its rows, and the
// kernels before and after it.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "core/base/units.h"
#include "core/plan/kernel.h"
#include "workload/kernels/layer_kernels.h"

namespace ringwright::workload {

// The number of shares of the first and the last GEMM of this role; 0: not split.
struct GemmShares {
  GemmRole role = GemmRole::kForward;
  int first = 0;
  int last = 0;
  // 0: each share is a GEMM of its own. Else the GEMM stays one kernel on so many multiprocessors, and shares are
  // groups of its tiles. Tiles of one wave end together, so that a kernel has no more shares than waves.
  int sms = 0;

  friend auto operator<=>(const GemmShares&, const GemmShares&) = default;
};

// `first` and `last` are one share each, with the quantisation of its input; shares are as many as there are.
struct CutKernels {
  std::vector<Kernel> head;
  std::vector<Kernel> first;
  std::vector<Kernel> middle;
  std::vector<Kernel> last;
  std::vector<Kernel> tail;
  int first_shares = 0;
  int last_shares = 0;
};

// Waves of tiles of a GEMM: 128 x 256 values of its result on each multiprocessor (CUTLASS's tile on Hopper, which Flux
// builds on).
[[nodiscard]] std::int64_t gemm_waves(const Kernel& gemm, std::int64_t sms);
// A rank's part of the sum of all ranks' results, which have been stored into its memory.
[[nodiscard]] std::vector<Kernel> sum_of_tiles(const KernelContext& context, Bytes results, std::int64_t ranks);
[[nodiscard]] CutKernels split_gemms(const std::vector<Kernel>& kernels, const GemmShares& shares);

}  // namespace ringwright::workload
