#include "core/run/primitive_time.h"

#include <algorithm>
#include <cstddef>

namespace ringwright {
namespace {

// Threads of one block at which the protocol's rate was measured (NCCL_SIMPLE_MAX_NTHREADS, NCCL_LL_MAX_NTHREADS,
// NCCL_LL128_MAX_NTHREADS).
constexpr int full_threads(Protocol protocol) { return protocol == Protocol::kLl128 ? 640 : 512; }

bool uses_network(const ChunkPlay& play, const ChunkBlock& block) {
  const PortRange& receives = block.now.receives;
  for (int r = receives.first; r < receives.first + receives.count; ++r) {
    if (play.queues[block.sources[static_cast<std::size_t>(r)]].network) return true;
  }
  const PortRange& sends = block.now.sends;
  for (int s = sends.first; s < sends.first + sends.count; ++s) {
    if (play.queues[block.first_queue + static_cast<std::uint32_t>(s)].network) return true;
  }
  return false;
}

}  // namespace

Duration primitive_time(const ChannelCosts& all_costs, const ChunkPlay& play, const ChunkBlock& block) {
  const CollectivePlan& plan = play.choice.plan;
  const ChannelCosts::OfProtocol& costs = all_costs.of(plan.protocol);
  double rate = costs.rate.count() * block.block.thread_share;
  if (plan.threads > 0) rate *= std::min(1.0, static_cast<double>(plan.threads) / full_threads(plan.protocol));
  if (block.now.adds) rate *= all_costs.reduce_rate;
  if (!all_costs.gpudirect && uses_network(play, block)) rate = std::min(rate, all_costs.host_copy.count());
  const Duration fixed = block.now.continues ? Duration() : costs.primitive;
  return fixed + transfer_time(block.now.size, Bandwidth(rate));
}

}  // namespace ringwright
