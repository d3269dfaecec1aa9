// A square-ish bf16 GEMM that keeps the GPU busy while something else is measured.
#pragma once

#include <cublas_v2.h>

#include "buffers.cuh"

namespace ringwright::gpu {

struct GemmShape {
  int m = 0, n = 0, k = 0;
};

class CublasGemm {
 public:
  explicit CublasGemm(const GemmShape& shape);
  ~CublasGemm();
  CublasGemm(const CublasGemm&) = delete;
  CublasGemm& operator=(const CublasGemm&) = delete;

  void launch(cudaStream_t stream, int turn) const;

 private:
  GemmShape shape_;
  cublasHandle_t handle_{};
  RotatingBuffers a_, b_, c_;
};

}  // namespace ringwright::gpu
