// Every call of the CUDA libraries is checked: a measurement after a failed call would be of nothing.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>

namespace ringwright::gpu {

// Ends the program with what failed and why.
void check(cudaError_t status, const char* what);
void check(cublasStatus_t status, const char* what);
[[noreturn]] void fail(const char* what);

}  // namespace ringwright::gpu
