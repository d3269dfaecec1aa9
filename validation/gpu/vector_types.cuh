// Eight bf16 values as one 16-byte access, and reductions over a block: the elements of memory-bound kernels.
#pragma once

#include <cuda_bf16.h>

namespace ringwright::gpu {

struct alignas(16) Eight {
  __nv_bfloat16 value[8];
};

__device__ inline float2 pair_of(const Eight& eight, int i) {
  return __bfloat1622float2(*reinterpret_cast<const __nv_bfloat162*>(&eight.value[2 * i]));
}
__device__ inline void set_pair(Eight& eight, int i, float2 pair) {
  *reinterpret_cast<__nv_bfloat162*>(&eight.value[2 * i]) = __float22bfloat162_rn(pair);
}

__device__ inline float warp_sum(float value) {
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xFFFFFFFFU, value, distance);
  return value;
}
__device__ inline float warp_max(float value) {
  for (int distance = 16; distance > 0; distance /= 2) {
    value = fmaxf(value, __shfl_xor_sync(0xFFFFFFFFU, value, distance));
  }
  return value;
}

// For blocks of up to 1024 threads; every thread gets the sum. `scratch` has 32 values.
__device__ inline float block_sum(float value, float* scratch) {
  value = warp_sum(value);
  __syncthreads();  // threads may still read the old values
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = value;
  __syncthreads();
  const int warps = static_cast<int>(blockDim.x + 31) / 32;
  return warp_sum(static_cast<int>(threadIdx.x % 32) < warps ? scratch[threadIdx.x % 32] : 0.0F);
}
__device__ inline float block_max(float value, float* scratch) {
  value = warp_max(value);
  __syncthreads();
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = value;
  __syncthreads();
  const int warps = static_cast<int>(blockDim.x + 31) / 32;
  return warp_max(static_cast<int>(threadIdx.x % 32) < warps ? scratch[threadIdx.x % 32] : -3e38F);
}

}  // namespace ringwright::gpu
