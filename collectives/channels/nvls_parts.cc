// Chunk sizes as NCCL's src/enqueue.cc chooses them (NCCL_NVLS_CHUNKSIZE 128 KiB; its trees 64 KiB from four hosts
// on; 2.21 to 2.27), and its groups of warps: of 20, the reducing ones are 7 up to six heads and 5 beyond; the rest is
// halved. Where hosts are added up in the network, 3 reduce and send, 2 receive and multicast.
#include "collectives/channels/nvls_parts.h"

#include <algorithm>
#include <array>

#include "collectives/channels/channel_cut.h"

namespace ringwright::collectives {

using namespace ringwright::literals;

Bytes nvls_chunk(const CollectivePlan& plan, const NvlsExtent& extent) {
  if (plan.chunk > Bytes(0)) return align_up(plan.chunk);
  struct Step {
    std::int64_t times;  // of what all channels and heads move at a time
    Bytes chunk;
  };
  constexpr std::array kInside = {Step{64, 64_KiB}, Step{8, 32_KiB}, Step{2, 16_KiB}};
  constexpr std::array kOver = {Step{4, 64_KiB}, Step{1, 32_KiB}};
  const std::int64_t concurrent = std::int64_t{plan.channels} * extent.heads;
  if (extent.hosts == 1) {
    const Bytes full = 128_KiB;
    Bytes chunk = full;
    for (const Step& step : kInside) {
      if (extent.bytes < full * concurrent * step.times) chunk = std::min(chunk, step.chunk);
    }
    return chunk;
  }
  Bytes chunk = extent.hosts >= 4 ? 64_KiB : 128_KiB;
  for (const Step& step : kOver) {
    if (extent.bytes < chunk * concurrent * step.times) chunk = std::min(chunk, step.chunk);
  }
  return chunk;
}

NvlsWarps nvls_warps(int heads) {
  constexpr double kWarps = 20.0;
  const int reduce = heads <= 6 ? 7 : 5;
  const int gather = (20 - reduce) / 2;
  return {.scatter = (20 - reduce - gather) / kWarps, .reduce = reduce / kWarps, .gather = gather / kWarps};
}

NvlsWarps nvls_warps_over_hosts() {
  constexpr double kWarps = 20.0;
  return {.scatter = 8 / kWarps, .reduce = 3 / kWarps, .gather = 7 / kWarps, .hand_out = 2 / kWarps};
}

}  // namespace ringwright::collectives
