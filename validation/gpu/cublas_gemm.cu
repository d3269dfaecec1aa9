// The GEMM by cublasGemmEx, row-major y = x W^T.
#include "cublas_gemm.cuh"

#include "check.cuh"

namespace ringwright::gpu {
namespace {

std::size_t area(int rows, int columns) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
}

}  // namespace

CublasGemm::CublasGemm(const GemmShape& shape)
    : shape_(shape),
      a_(area(shape.m, shape.k), Element::kBf16, 1),
      b_(area(shape.n, shape.k), Element::kBf16, 2),
      c_(area(shape.m, shape.n), Element::kBf16, 3) {
  check(cublasCreate(&handle_), "cublasCreate");
}

CublasGemm::~CublasGemm() {
  cublasDestroy(handle_);
}

void CublasGemm::launch(cudaStream_t stream, int turn) const {
  const float alpha = 1.0F;
  const float beta = 0.0F;
  check(cublasSetStream(handle_, stream), "cublasSetStream");
  check(cublasGemmEx(handle_, CUBLAS_OP_T, CUBLAS_OP_N, shape_.n, shape_.m, shape_.k, &alpha, b_.at<void>(turn),
                     CUDA_R_16BF, shape_.k, a_.at<void>(turn), CUDA_R_16BF, shape_.k, &beta, c_.at<void>(turn),
                     CUDA_R_16BF, shape_.n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
        "cublasGemmEx");
}

}  // namespace ringwright::gpu
