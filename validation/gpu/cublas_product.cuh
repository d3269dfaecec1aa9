// A square-ish bf16 product to keep the GPU busy with while something else is measured beside it.
#pragma once

#include <cublas_v2.h>

#include "buffers.cuh"

namespace ringwright::gpu {

struct ProductShape {
  int m = 0, n = 0, k = 0;
};

class CublasProduct {
 public:
  explicit CublasProduct(const ProductShape& shape);
  ~CublasProduct();
  CublasProduct(const CublasProduct&) = delete;
  CublasProduct& operator=(const CublasProduct&) = delete;

  void launch(cudaStream_t stream, int turn) const;

 private:
  ProductShape shape_;
  cublasHandle_t handle_{};
  RotatingBuffers a_, b_, c_;
};

}  // namespace ringwright::gpu
