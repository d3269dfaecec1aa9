// The end of a run whose CUDA call failed.
#include "check.cuh"

#include <cstdio>
#include <cstdlib>

namespace ringwright::gpu {

void fail(const char* what) {
  std::fprintf(stderr, "error: %s\n", what);
  std::exit(1);
}

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "error: %s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

void check(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  std::fprintf(stderr, "error: %s: %s\n", what, cublasGetStatusString(status));
  std::exit(1);
}

}  // namespace ringwright::gpu
