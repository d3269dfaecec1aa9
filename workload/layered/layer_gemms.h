// The kernels of one layer's matrix multiplication: an implicit GEMM, or Winograd's algorithm.
//
// Winograd, F(m x m, 3 x 3): tiles of (m + 2)^2 inputs give m^2 outputs by (m + 2)^2 products a channel instead of
// 9 m^2, as (m + 2)^2 GEMMs over all tiles (Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", arXiv
// 1509.09308). cuDNN has m = 2 with the transforms inside the kernel (ALGO_WINOGRAD), and m = 4 with transforms of
// their own, which write tiles to memory and read them back (ALGO_WINOGRAD_NONFUSED). m = 4 saves 3.5 C multiply-adds
// of each output over C channels and moves 36 bytes more for it, so that it is faster from 130 channels on where a GPU
// does 13 FLOPs for each byte (P100, fp32), and from 180 where it does 17 (V100).
#pragma once

#include <vector>

#include "workload/kernels/kernel_maker.h"
#include "workload/layered/layered_model.h"

namespace ringwright::workload {

struct LayerGemm {
  const LayerRow& row;
  double samples = 0.0;
  GemmRole role = GemmRole::kForward;
};

void add_layer_gemm(const LayeredModel& model, const LayerGemm& gemm, std::vector<Kernel>& kernels);

}  // namespace ringwright::workload
