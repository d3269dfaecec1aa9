#include "core/run/kernels/primitive_time.h"

#include <algorithm>
#include <cstddef>

namespace ringwright {
namespace {

bool through_switch(RouteKind route_kind) {
  return route_kind == RouteKind::kUpToSwitch || route_kind == RouteKind::kDownFromSwitch;
}

bool takes_from_switch(const ChunkBlock& block) {
  const PortRange& from = block.now.receives;
  return from.count > 0 &&
         block.block.receives[static_cast<std::size_t>(from.first)].route_kind == RouteKind::kDownFromSwitch;
}

bool gives_to_switch(const ChunkBlock& block) {
  const PortRange& to = block.now.sends;
  return to.count > 0 && block.block.sends[static_cast<std::size_t>(to.first)].route_kind == RouteKind::kUpToSwitch;
}

// Every operand is loaded, every destination is stored to. A switch's sum is one operand, a multicast is sent once.
int loads_of(const ChunkBlock& block) {
  if (block.now.signal_only) return std::max(block.now.operands, 1);
  const PortRange& from = block.now.receives;
  const bool summed =
      from.count > 1 && through_switch(block.block.receives[static_cast<std::size_t>(from.first)].route_kind);
  const int received = summed ? 1 : from.count;
  const bool own = block.now.reads || (block.now.adds && received < 2);
  return std::max(received + (own ? 1 : 0), 1);
}

int stores_of(const ChunkBlock& block) {
  if (block.now.signal_only) return std::max(block.now.results, 1);
  const PortRange& to = block.now.sends;
  const bool multicast =
      to.count > 1 && through_switch(block.block.sends[static_cast<std::size_t>(to.first)].route_kind);
  return std::max((multicast ? 1 : to.count) + (block.now.stores ? 1 : 0), 1);
}

// Time of the bytes in the thread block, without links.
Duration block_time(const ChannelCosts& costs, const ChunkPlay& play, const ChunkBlock& block) {
  const CollectivePlan& plan = play.plan();
  const Bandwidth full = costs.rate_of(plan.protocol, loads_of(block), stores_of(block));
  const double rate = full.count() * thread_speed(plan, block.block.thread_share);
  return transfer_time(block.now.size, Bandwidth(rate));
}

// Bytes that the block's threads process at once, each a line of LL or 60 bytes of LL128
// (NCCL_LL128_SHMEM_ELEMS_PER_THREAD 8).
double pass_of(const CollectivePlan& plan, const ChunkBlock& block) {
  const double threads = plan.threads > 0 ? plan.threads : full_threads(plan.protocol);
  return (plan.protocol == Protocol::kLl128 ? 60.0 : 8.0) * threads * block.block.thread_share;
}

// With LL128 a warp stores none of its 16 lines before it has all of their operands: the first pass of the threads
// precedes the bytes' time on the links, and does not overlap it.
Duration first_pass(const ChannelCosts& costs, const ChunkPlay& play, const ChunkBlock& block) {
  const CollectivePlan& plan = play.plan();
  if (plan.protocol != Protocol::kLl128 || block.now.sends.count == 0 || block.now.size == Bytes(0)) return {};
  return scale(block_time(costs, play, block),
               std::min(1.0, pass_of(plan, block) / static_cast<double>(block.now.size.count())));
}

}  // namespace

Bytes on_wire(const ChunkPlay& play, Bytes size) { return scale(size, wire_bytes_per_byte(play.plan().protocol)); }

Bytes lines_of(const ChunkPlay& play, const ChunkBlock& block) {
  const Bytes pass(static_cast<std::int64_t>(pass_of(play.plan(), block)));
  return play.plan().protocol == Protocol::kSimple || block.now.size <= pass ? Bytes(0) : pass;
}

Duration line_time(const ChannelCosts& costs, const ChunkPlay& play, const ChunkBlock& block) {
  const Bytes lines = lines_of(play, block);
  if (lines == Bytes(0)) return {};
  return scale(block_time(costs, play, block),
               static_cast<double>(lines.count()) / static_cast<double>(block.now.size.count()));
}

Duration fixed_time(const ChannelCosts& costs, const ChunkPlay& play, const ChunkBlock& block) {
  const bool taken = takes_from_switch(block);
  if (block.now.continues) return taken || gives_to_switch(block) ? costs.further_peer : Duration();
  const Duration switched = taken ? costs.switched : Duration();
  return costs.of(play.plan().protocol).primitive + switched + first_pass(costs, play, block);
}

Duration moving_time(const ChannelCosts& costs, const ChunkPlay& play, const ChunkBlock& block) {
  const Duration all = block_time(costs, play, block);
  return block.now.continues ? all : all - first_pass(costs, play, block);
}

}  // namespace ringwright
