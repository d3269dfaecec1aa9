// Kernels that move bytes: at the bandwidth that copies reach, times the speed of their family relative to a copy; data
// that fit the last-level cache move at the cache's speed, since the previous kernel has just touched them.
//
//     t = bytes * (cached / cache speed + (1 - cached)) / (bandwidth * share * family speed)
//         + (1 - cached) * start
//
// `cached` falls from 1 at cache_share of the cache to 0 at all of it: a stream that is larger than the cache evicts
// what it will need. (Measured by the small-kernel benchmark of github.com/te42kyfo/gpu-benches.) `start` is the
// latency of memory, before the first bytes arrive and after the last ones leave.
#include <algorithm>

#include "workload/kernels/kernel_rules.h"
#include "workload/kernels/serial_kernels.h"

namespace ringwright::workload {
namespace {

using enum KernelConstant;

double family_speed(KernelFamily family, const KernelProfile& profile) {
  switch (family) {
    case KernelFamily::kNorm: return profile[kStreamNorm];
    case KernelFamily::kElementwise: return profile[kStreamElementwise];
    case KernelFamily::kSoftmax: return profile[kStreamSoftmax];
    case KernelFamily::kEmbedding: return profile[kStreamEmbedding];
    case KernelFamily::kOptimizer: return profile[kStreamOptimizer];
    case KernelFamily::kCast: return profile[kStreamCast];
    case KernelFamily::kGemm:
    case KernelFamily::kGroupedGemm:
    case KernelFamily::kAttentionForward:
    case KernelFamily::kAttentionBackward:
    case KernelFamily::kCopy: return 1.0;
  }
  return 1.0;
}

// The share of a stream that touches so many bytes which the last-level cache still has.
double cached_share(double touched, const GpuSpec& gpu) {
  const auto cache = static_cast<double>(gpu.l2.count());
  const double resident = cache * gpu.kernels[kStreamCacheShare];
  if (touched <= resident) return 1.0;
  return touched < cache ? (cache - touched) / (cache - resident) : 0.0;
}

double slowness(double cached, const GpuSpec& gpu) {
  return cached / gpu.kernels[kStreamCacheSpeed] + 1.0 - cached;
}

}  // namespace

double stream_slowness(double touched, const GpuSpec& gpu) {
  return slowness(cached_share(touched, gpu), gpu);
}

double stream_seconds(const Kernel& kernel, const GpuSpec& gpu) {
  const KernelProfile& profile = gpu.kernels;
  const auto bytes = static_cast<double>(kernel.bytes.count());
  // Rows that are looked up at random are anywhere in their tables.
  const bool at_random = kernel.family == KernelFamily::kEmbedding && kernel.m > 0;
  const double touched = at_random ? std::max(bytes, static_cast<double>(kernel.m)) : bytes;
  // The bytes of such a kernel are those of a stream that takes as long (recommendation.gather_efficiency).
  const double relative = at_random ? 1.0 : family_speed(kernel.family, profile);
  const double rate = gpu.memory_bandwidth.count() * profile[kStreamShare] * relative;
  const double cached = cached_share(touched, gpu);
  return std::max(bytes * slowness(cached, gpu) / rate + (1.0 - cached) * profile[kStreamStart],
                  serial_load_seconds(kernel));
}

}  // namespace ringwright::workload
