// Runs kernels on a CPU, thread by thread: the built-ins of CUDA's compiler (thread numbers, barriers, exchanges in a
// warp) and memory whose stores other blocks see late.
//
// Threads are fibres of one host thread. Warps take turns in random order; within its turn a warp's threads run until
// each waits or reads memory, so that adjacent stores of eight of them become visible at once, as LL128 requires of the
// hardware. Everything else is as weak as CUDA's memory model allows: plain stores stay invisible to other blocks until
// a release behind a barrier (or by chance before), the two halves of a 16-byte store become visible apart, and the
// threads of a warp may read at different times. A kernel that works here for many seeds does not depend on chance.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#define __global__
#define __device__
#define __host__
#define __shared__ static  // of one block at a time, or of blocks that write the same
#define __launch_bounds__(...)
#define threadIdx (::emulation::thread_index())
#define blockIdx (::emulation::block_index())
#define blockDim (::emulation::block_size())
#define gridDim (::emulation::grid_size())

struct uint2 {
  std::uint32_t x, y;
};
struct uint4 {
  std::uint32_t x, y, z, w;
};
struct float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};

namespace emulation {

struct Index {
  unsigned x = 0;
};
Index thread_index();
Index block_index();
Index block_size();
Index grid_size();

constexpr std::uint64_t kNanosecondsARound = 100'000;

struct Play {
  unsigned blocks = 1;
  unsigned threads = 32;
  std::vector<unsigned> only;  // these blocks alone; none: all
  unsigned seed = 1;
};
struct Outcome {
  bool trapped = false;      // a thread gave up
  bool deadlocked = false;   // threads wait at barriers that others never reach
  std::uint64_t rounds = 0;  // turns of all warps: a clock
  [[nodiscard]] bool ended() const { return !trapped && !deadlocked; }
};
// Runs a kernel to its end.
Outcome play(const Play& play, const std::function<void()>& kernel);

// A kernel that runs concurrently with the host, a few rounds whenever the host checks.
class Background;
Background* begin(const Play& play, const std::function<void()>& kernel);
bool go_on(Background& background, int rounds);  // whether it has more to do
void end(Background* background);

void yield();
void barrier();
std::uint32_t exchange(std::uint32_t value, unsigned from_lane);
bool any(bool value);
[[noreturn]] void trap();

}  // namespace emulation

inline void __syncthreads() {
  emulation::barrier();
}
inline void __syncwarp() {
  emulation::any(true);
}
inline bool __any_sync(unsigned, bool value) {
  return emulation::any(value);
}
inline std::uint32_t __shfl_sync(unsigned, std::uint32_t value, int lane) {
  return emulation::exchange(value, static_cast<unsigned>(lane));
}
[[noreturn]] inline void __trap() {
  emulation::trap();
}

template <class To, class From>
To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}
inline std::uint32_t __float_as_uint(float value) {
  return bits_as<std::uint32_t>(value);
}
inline int __float_as_int(float value) {
  return bits_as<int>(value);
}
inline float __uint_as_float(std::uint32_t value) {
  return bits_as<float>(value);
}
inline float __shfl_xor_sync(unsigned mask, float value, int distance) {
  const int lane = static_cast<int>(threadIdx.x % 32) ^ distance;
  return __uint_as_float(__shfl_sync(mask, __float_as_uint(value), lane));
}
inline float __expf(float x) {
  return std::exp(x);
}
inline float __logf(float x) {
  return std::log(x);
}
inline float rsqrtf(float x) {
  return 1.0F / std::sqrt(x);
}
inline void atomicAdd(float* to, float value) {
  *to += value;
}
inline void atomicMax(int* to, int value) {
  *to = *to > value ? *to : value;
}
long long clock64();
