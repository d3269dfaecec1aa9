#include "workload/gpu/gpu_share.h"

#include <algorithm>

namespace ringwright::workload {
namespace {

// Copy engines behind a host link cannot starve the multiprocessors, for any setting.
constexpr double kMostOfEngines = 0.5;

}  // namespace

GpuShare::GpuShare(const GpuSpec& gpu, const Contention& contention, double reached)
    : gpu_(gpu), contention_(contention), all_(gpu.memory_bandwidth.count() * reached) {
  left_ = all_ - std::min(contention.copies.count(), all_ * kMostOfEngines);
  // Every data movement has at least one thread block.
  const std::int64_t blocks = std::clamp<std::int64_t>(contention.sms, 1, std::max<std::int64_t>(gpu.sms - 1, 1));
  blocks_part_ = static_cast<double>(blocks) / static_cast<double>(gpu.sms);
}

GpuSpec GpuShare::of_kernel() const {
  GpuSpec left = gpu_;
  left.sms = std::max<std::int64_t>(gpu_.sms - contention_.sms, 1);
  const double share = static_cast<double>(left.sms) / static_cast<double>(gpu_.sms);
  for (FlopRate& peak : left.peak) peak = peak * share;
  const double granted = (left_ - std::min(contention_.memory.count(), left_ * blocks_part_)) / all_;
  left.memory_bandwidth = gpu_.memory_bandwidth * std::min(granted, share / gpu_.streaming_share);
  return left;
}

Bandwidth GpuShare::of_blocks(const Kernel& kernel, Duration busy) const {
  if (busy <= Duration(0)) return contention_.memory;
  const double drawn = static_cast<double>(kernel.bytes.count()) / to_seconds(busy);
  return Bandwidth(std::min(contention_.memory.count(), std::max(left_ - drawn, left_ * blocks_part_)));
}

}  // namespace ringwright::workload
