#include "workload/gpu/gpu_share.h"

#include <algorithm>
#include <cmath>

namespace ringwright::workload {
namespace {

// Copy engines behind a host link cannot starve the multiprocessors, for any setting.
constexpr double kMostOfEngines = 0.5;

}  // namespace

GpuShare::GpuShare(const GpuSpec& gpu, const Contention& contention, double reached)
    : gpu_(gpu),
      contention_(contention),
      sms_(std::max<std::int64_t>(std::llround(static_cast<double>(gpu.sms) * contention.instance_sms), 1)),
      all_(gpu.memory_bandwidth.count() * reached * contention.instance_memory) {
  left_ = all_ - std::min(contention.copies.count(), all_ * kMostOfEngines);
  // Every data movement has at least one thread block.
  const std::int64_t blocks = std::clamp<std::int64_t>(contention.sms, 1, std::max<std::int64_t>(sms_ - 1, 1));
  entitled_ = std::min(contention.memory.count() / gpu.loaded_latency,
                       left_ * static_cast<double>(blocks) / static_cast<double>(sms_));
}

GpuSpec GpuShare::of_kernel() const {
  GpuSpec left = gpu_;
  const std::int64_t most = std::llround(static_cast<double>(gpu_.sms) * contention_.most_sms);
  left.sms = std::max<std::int64_t>(std::min(sms_ - contention_.sms, most), 1);
  left.held_sms = std::max<std::int64_t>(std::min(sms_, most) - left.sms, 0);
  const double share = static_cast<double>(left.sms) / static_cast<double>(gpu_.sms);
  for (FlopRate& peak : left.peak) peak = peak * share;
  const double granted = (left_ - entitled_) / all_;
  const double drawable = static_cast<double>(left.sms) / static_cast<double>(sms_) / gpu_.streaming_share;
  left.memory_bandwidth = gpu_.memory_bandwidth * (contention_.instance_memory * std::min(granted, drawable));
  return left;
}

Bandwidth GpuShare::of_blocks(const Kernel& kernel, Duration busy) const {
  if (busy <= Duration(0)) return contention_.memory;
  const double drawn = static_cast<double>(kernel.bytes.count()) / to_seconds(busy);
  const double latency = 1.0 + (gpu_.loaded_latency - 1.0) * std::min(drawn / left_, 1.0);
  return Bandwidth(std::min(contention_.memory.count() / latency, std::max(left_ - drawn, entitled_)));
}

}  // namespace ringwright::workload
