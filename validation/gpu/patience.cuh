// Ends a kernel that waits for data that never arrive: an error after three seconds instead of a hang.
#pragma once

#include "memory_access.cuh"

namespace ringwright::gpu {

class Patience {
 public:
  __device__ void wait() {
    constexpr std::uint64_t kNanoseconds = 3'000'000'000;
    if (++turns_ % 1024 != 0) return;
    const std::uint64_t now = nanoseconds();
    if (since_ == 0) since_ = now;
    if (now - since_ > kNanoseconds) __trap();
  }

 private:
  unsigned turns_ = 0;
  std::uint64_t since_ = 0;
};

}  // namespace ringwright::gpu
