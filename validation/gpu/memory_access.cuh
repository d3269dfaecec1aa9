// Loads and stores whose order and size matter between thread blocks, in PTX.
//
// Outside of nvcc they are only declared: the emulation of the tests defines them.
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

namespace ringwright::gpu {

#ifdef __CUDACC__

__device__ inline std::uint64_t load_acquire(const std::uint64_t* from) {
  std::uint64_t value;
  asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
  return value;
}
__device__ inline std::uint64_t load_relaxed(const std::uint64_t* from) {
  std::uint64_t value;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
  return value;
}
__device__ inline void store_release(std::uint64_t* to, std::uint64_t value) {
  asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
}
__device__ inline void store_relaxed(std::uint64_t* to, std::uint64_t value) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
}
// 16 bytes in one access; only each half of 8 is guaranteed to be observed whole.
__device__ inline uint4 load_volatile(const uint4* from) {
  uint4 v;
  asm volatile("ld.volatile.global.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(from)
               : "memory");
  return v;
}
__device__ inline void store_volatile(uint4* to, uint4 v) {
  asm volatile("st.volatile.global.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(to), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)
               : "memory");
}
// The same from eight neighbouring threads at once: a line of 128 bytes, which is observed whole (LL128 relies on it).
__device__ inline void store_part_of_line(uint4* to, uint4 v) {
  store_volatile(to, v);
}
// Data that another thread block wrote before it signalled them, past the L1 cache; and data for another block.
__device__ inline float4 load_others(const float4* from) {
  return __ldcv(from);
}
__device__ inline void store_for_others(float4* to, float4 v) {
  *to = v;
}
__device__ inline std::uint64_t nanoseconds() {
  std::uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

#else

std::uint64_t load_acquire(const std::uint64_t* from);
std::uint64_t load_relaxed(const std::uint64_t* from);
void store_release(std::uint64_t* to, std::uint64_t value);
void store_relaxed(std::uint64_t* to, std::uint64_t value);
uint4 load_volatile(const uint4* from);
void store_volatile(uint4* to, uint4 v);
void store_part_of_line(uint4* to, uint4 v);
float4 load_others(const float4* from);
void store_for_others(float4* to, float4 v);
std::uint64_t nanoseconds();

#endif

}  // namespace ringwright::gpu
