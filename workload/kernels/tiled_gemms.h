// Kernels of a section, whose linear operators are grids of tiles (linear_tiling.h).
//
// DeepSpeed's TiledLinear (runtime/zero/tiling.py) runs one GEMM for each tile. Forward, the first one of an output is
// cloned and the others are added to it, and the outputs are concatenated. Backward, autograd adds the gradients that
// the outputs have for a part of the input, and concatenates these; each tile has a GEMM for either gradient.
#pragma once

#include <cstddef>
#include <vector>

#include "core/plan/kernel.h"
#include "workload/kernels/layer_kernels.h"

namespace ringwright::workload {

// The kernels in their order: steps, many of which are equal.
struct TiledKernels {
  struct Step {
    std::size_t kernels = 0;  // index
    bool tile = false;        // needs the parameters of one tile
  };
  std::vector<std::vector<Kernel>> kernels;
  std::vector<Step> steps;
};

[[nodiscard]] TiledKernels tile_linears(const std::vector<Kernel>& kernels, const KernelContext& context);

}  // namespace ringwright::workload
