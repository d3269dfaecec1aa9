#include "workload/gpu_share.h"

#include <algorithm>

namespace ringwright::workload {

GpuSpec what_is_left(const GpuSpec& gpu, const Contention& contention) {
  GpuSpec left = gpu;
  left.sms = std::max<std::int64_t>(gpu.sms - contention.sms, 1);
  const double share = static_cast<double>(left.sms) / static_cast<double>(gpu.sms);
  for (FlopRate& peak : left.peak) peak = peak * share;
  const double all = gpu.memory_bandwidth.count();
  const double granted = std::max(all - contention.memory.count(), all * share);
  left.memory_bandwidth = Bandwidth(std::min(granted, all * std::min(share / gpu.streaming_share, 1.0)));
  return left;
}

}  // namespace ringwright::workload
