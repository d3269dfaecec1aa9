// The messages of ASTRA-sim's algorithms along one dimension.
//
// A packet is handled before the first messages and after each received one; in the reducing half of a collective it is
// also reduced. Halving-doubling reduces one packet less than it receives: ASTRA-sim counts log2(N) packets per half,
// the first of which is never reduced.
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

ChunkPhase ring_steps(const AstraPhase& phase) {
  const std::uint32_t others = phase.nodes - 1;
  const std::int64_t bytes = phase.kind == CollectiveKind::kAllGather ? phase.bytes : phase.bytes / phase.nodes;
  ChunkPhase steps{.nodes = phase.nodes, .steps = {{.rule = PeerRule::kShift, .distance = 1, .bytes = bytes}}};
  steps.messages = others;
  if (phase.kind == CollectiveKind::kAllReduce) steps.messages = 2 * others;
  if (phase.kind == CollectiveKind::kAllToAll) {
    steps.messages = static_cast<std::uint32_t>(std::uint64_t{others} * phase.nodes / 2);
  }
  if (reduces_first(phase.kind)) {
    steps.packets = {{.count = 1}, {.count = others, .reduced_bytes = bytes}};
  }
  return steps;
}

// Peers at distance 1, 2, 3, ...; an all-reduce gathers only when it has reduced all it receives.
ChunkPhase direct_steps(const AstraPhase& phase) {
  const std::uint32_t others = phase.nodes - 1;
  const std::int64_t bytes = phase.kind == CollectiveKind::kAllGather ? phase.bytes : phase.bytes / phase.nodes;
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
  if (reduces_first(phase.kind)) {
    // A window of packets is passed on, then one is reduced, and so on; of an all-reduce, every second such pair is only
    // passed on. In a communicator group as many windows are reduced in a row as there are peers.
    const std::uint32_t windows = phase.in_group ? others : 1;
    const auto reduced = static_cast<std::uint32_t>(std::min(std::uint64_t{steps.window} * windows, kManyPackets));
    steps.packets = {{.count = steps.window}, {.count = reduced, .reduced_bytes = bytes}};
    steps.packet_period = (steps.window + reduced) * static_cast<std::uint32_t>(halves);
  }
  return steps;
}

ChunkPhase halving_doubling_steps(const AstraPhase& phase) {
  const auto levels = static_cast<std::uint32_t>(std::countr_zero(phase.nodes));
  ChunkPhase steps{.nodes = phase.nodes};
  std::int64_t bytes = phase.bytes;
  if (reduces_first(phase.kind)) {
    for (std::uint32_t level = 0; level < levels; ++level) {
      bytes /= 2;
      steps.steps.push_back({.rule = PeerRule::kXor, .distance = 1U << level, .bytes = bytes});
      steps.packets.push_back({.count = 1, .reduced_bytes = level == 0 ? 0 : bytes});
    }
    bytes = bytes / 2 * 2;  // the size is halved once more and doubled on the way back
  }
  if (phase.kind != CollectiveKind::kReduceScatter) {
    for (std::uint32_t level = levels; level-- > 0; bytes *= 2) {
      steps.steps.push_back({.rule = PeerRule::kXor, .distance = 1U << level, .bytes = bytes});
    }
  }
  steps.messages = static_cast<std::uint32_t>(steps.steps.size());
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
