// Every call of the CUDA libraries is checked: a measurement after a failed call would be meaningless.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>

namespace ringwright::gpu {

// Ends the program with the call that failed and the reason.
void check(cudaError_t status, const char* what);
void check(cublasStatus_t status, const char* what);
[[noreturn]] void fail(const char* what);

}  // namespace ringwright::gpu
