// Chunk sizes as NCCL's calcCollChunking has them for CollNetDirect and CollNetChain (src/enqueue.cc, 2.19 to 2.27).
#include "collectives/channels/network_sum.h"

#include <array>
#include <cstdint>

#include "collectives/channels/channel_cut.h"

namespace ringwright::collectives {

int next_host(const GroupLayout& layout, int host) {
  return host + 1 == layout.host_count() ? 0 : host + 1;
}

int host_before(const GroupLayout& layout, int host) {
  return host == 0 ? layout.host_count() - 1 : host - 1;
}

Bytes network_chunk(const CollectivePlan& plan, const NetworkChunk& wanted) {
  if (plan.chunk > Bytes(0)) return align_up(plan.chunk);
  struct Step {
    int loops_a_level;
    std::int64_t down_to;
  };
  const std::array steps = {Step{64, 128 << 10}, Step{8, 64 << 10}, Step{wanted.loops_at_last, 32 << 10}};
  std::int64_t chunk = wanted.most.count();
  for (const Step& step : steps) {
    while (wanted.bytes.count() / (wanted.concurrent * chunk) < std::int64_t{step.loops_a_level} * wanted.depth &&
           chunk > step.down_to) {
      chunk /= 2;
    }
  }
  return Bytes(chunk);
}

}  // namespace ringwright::collectives
