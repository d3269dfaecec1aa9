// Puts kernels on streams; a launch that the device refuses ends the run.
#pragma once

#include <cstddef>
#include <tuple>

#include <cuda_runtime.h>

#include "check.cuh"

namespace ringwright::gpu {

struct Grid {
  unsigned blocks = 1;
  unsigned threads = 1;
  std::size_t shared_bytes = 0;
  bool cooperative = false;  // all blocks are resident at once, or the launch is refused
};

template <class... Parameters, class... Arguments>
void enqueue(void (*kernel)(Parameters...), const Grid& grid, cudaStream_t stream, const Arguments&... arguments) {
  std::tuple<Parameters...> values(arguments...);
  std::apply(
      [&](auto&... value) {
        void* pointers[] = {static_cast<void*>(&value)..., nullptr};
        const cudaError_t status =
            grid.cooperative
                ? cudaLaunchCooperativeKernel(kernel, dim3(grid.blocks), dim3(grid.threads), pointers,
                                              grid.shared_bytes, stream)
                : cudaLaunchKernel(kernel, dim3(grid.blocks), dim3(grid.threads), pointers, grid.shared_bytes, stream);
        check(status, "a kernel's launch");
      },
      values);
}

}  // namespace ringwright::gpu
