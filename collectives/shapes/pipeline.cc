// The number of chunks with the least time for a latency-bandwidth product that is similar on NVLink and on a NIC.
#include "collectives/shapes/pipeline.h"

#include <algorithm>
#include <cmath>

namespace ringwright::collectives {
namespace {

// a B of the formula: 0.7 us at 370 GB/s (NVLink of an H100) or 5 us at 50 GB/s (a 400 Gb/s NIC) are both about
// 256 KiB; NCCL's chunks lie between 128 KiB and 512 KiB for the same reason.
constexpr double kBytesPerLatency = 256.0 * 1024.0;
constexpr double kMostPipelineChunks = 1024.0;

}  // namespace

int pipeline_chunks(Bytes bytes, int extra_stages) {
  const double stages = std::max(extra_stages, 0);
  const double best = std::sqrt(static_cast<double>(bytes.count()) * stages / kBytesPerLatency);
  return static_cast<int>(std::clamp(std::round(best), 1.0, kMostPipelineChunks));
}

}  // namespace ringwright::collectives
