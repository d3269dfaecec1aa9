// The messages of ASTRA-sim's algorithms along one dimension.
//
// A packet is handled before the first messages and after each received one. Halving-doubling reduces one packet less
// than it receives: ASTRA-sim counts log2(N) packets per half, the first of which is never reduced.
#include <algorithm>
#include <bit>

#include "collectives/astra/phases.h"
#include "collectives/astra/trees.h"

namespace ringwright::collectives {
namespace {

constexpr std::uint64_t kManyPackets = 1U << 30U;  // more than any phase has

bool reduces_first(CollectiveKind kind) {
  return kind == CollectiveKind::kReduceScatter || kind == CollectiveKind::kAllReduce;
}

std::int64_t shard_bytes(const AstraPhase& phase) {
  return phase.kind == CollectiveKind::kAllGather ? phase.bytes : phase.bytes / phase.nodes;
}

// Cycles of packets: the first `out` come from memory, the next ones pass through, the last `in` of them stay. Those
// that do not come from memory are reduced, in an all-reduce those of every second cycle.
struct PacketCycle {
  std::uint32_t out = 1;
  std::uint32_t through = 0;
  std::uint32_t in = 1;
};

void add_packets(const AstraPhase& phase, const PacketCycle& cycle, std::int64_t bytes, ChunkPhase& steps) {
  const int cycles = phase.kind == CollectiveKind::kAllReduce ? 2 : 1;
  for (int i = 0; i < cycles; ++i) {
    const bool reduced = i == 0 && reduces_first(phase.kind);
    steps.packets.push_back({.count = cycle.out, .each = {.bytes = bytes, .role = PacketRole::kOut}});
    steps.packets.push_back(
        {.count = cycle.through, .each = {.bytes = bytes, .role = PacketRole::kThrough, .reduced = reduced}});
    steps.packets.push_back({.count = cycle.in, .each = {.bytes = bytes, .role = PacketRole::kIn, .reduced = reduced}});
    steps.packet_period += cycle.out + cycle.through + cycle.in;
  }
}

ChunkPhase ring_steps(const AstraPhase& phase) {
  const std::uint32_t others = phase.nodes - 1;
  const std::int64_t bytes = shard_bytes(phase);
  ChunkPhase steps{.nodes = phase.nodes, .steps = {{.rule = PeerRule::kShift, .distance = 1, .bytes = bytes}}};
  steps.messages = others;
  if (phase.kind == CollectiveKind::kAllReduce) steps.messages = 2 * others;
  if (phase.kind == CollectiveKind::kAllToAll) {
    const std::uint64_t messages = std::uint64_t{others} * phase.nodes / 2;
    steps.messages = static_cast<std::uint32_t>(std::min(messages, std::uint64_t{UINT32_MAX - 1}));
  }
  add_packets(phase, {.through = others - 1}, bytes, steps);
  return steps;
}

// Peers at distance 1, 2, 3, ...; an all-reduce gathers only when it has reduced all it receives. Windows of packets
// alternate: one from memory, one received; in a communicator group as many received ones in a row as there are peers.
ChunkPhase direct_steps(const AstraPhase& phase) {
  const std::uint32_t others = phase.nodes - 1;
  const std::int64_t bytes = shard_bytes(phase);
  ChunkPhase steps{.nodes = phase.nodes};
  steps.window = phase.algorithm.window == 0 ? others : std::min(phase.algorithm.window, others);
  const int halves = phase.kind == CollectiveKind::kAllReduce ? 2 : 1;
  for (int half = 0; half < halves; ++half) {
    for (std::uint32_t distance = 1; distance < phase.nodes; ++distance) {
      steps.steps.push_back({.rule = PeerRule::kShift, .distance = distance, .bytes = bytes});
    }
  }
  steps.messages = static_cast<std::uint32_t>(steps.steps.size());
  if (halves == 2) steps.gate = others;
  const std::uint64_t through = phase.in_group ? std::uint64_t{steps.window} * (others - 1) : 0;
  add_packets(
      phase,
      {.out = steps.window, .through = static_cast<std::uint32_t>(std::min(through, kManyPackets)), .in = steps.window},
      bytes, steps);
  return steps;
}

ChunkPhase halving_doubling_steps(const AstraPhase& phase) {
  const auto levels = static_cast<std::uint32_t>(std::countr_zero(phase.nodes));
  ChunkPhase steps{.nodes = phase.nodes};
  std::int64_t bytes = phase.bytes;
  // Of each half, the first packet comes from memory and the last one stays.
  const auto add = [&](std::uint32_t in_half, std::uint32_t level, bool reduced) {
    steps.steps.push_back({.rule = PeerRule::kXor, .distance = 1U << level, .bytes = bytes});
    Packet packet{.bytes = bytes};
    if (in_half > 0) packet.role = in_half + 1 < levels ? PacketRole::kThrough : PacketRole::kIn;
    packet.reduced = reduced && in_half > 0;
    steps.packets.push_back({.count = 1, .each = packet});
  };
  if (reduces_first(phase.kind)) {
    for (std::uint32_t level = 0; level < levels; ++level) {
      bytes /= 2;
      add(level, level, true);
    }
    bytes = bytes / 2 * 2;  // the size is halved once more, and doubled again in the gathering half
  }
  if (phase.kind != CollectiveKind::kReduceScatter) {
    for (std::uint32_t level = levels; level-- > 0; bytes *= 2) add(levels - 1 - level, level, false);
  }
  steps.packets.push_back({.count = 1, .each = {.bytes = bytes}});  // the last one received
  steps.messages = static_cast<std::uint32_t>(steps.steps.size());
  steps.packet_period = steps.messages + 1;
  return steps;
}

ChunkPhase double_tree_steps(const AstraPhase& phase) {
  return {.shape = PhaseShape::kTree,
          .nodes = phase.nodes,
          .bytes = phase.bytes,
          .roles = astra_tree(phase.nodes, AstraTreeRoot::kHighest),
          .second_roles = astra_tree(phase.nodes, AstraTreeRoot::kLowest)};
}

}  // namespace

ChunkPhase astra_steps(const AstraPhase& phase) {
  switch (phase.algorithm.kind) {
    case AstraAlgorithmKind::kRing: return ring_steps(phase);
    case AstraAlgorithmKind::kDirect: return direct_steps(phase);
    case AstraAlgorithmKind::kHalvingDoubling: return halving_doubling_steps(phase);
    case AstraAlgorithmKind::kDoubleBinaryTree: return double_tree_steps(phase);
  }
  return {};
}

std::int64_t bytes_after(const AstraPhase& phase) {
  if (phase.kind == CollectiveKind::kReduceScatter) return phase.bytes / phase.nodes;
  if (phase.kind == CollectiveKind::kAllGather) return phase.bytes * phase.nodes;
  return phase.bytes;
}

}  // namespace ringwright::collectives
