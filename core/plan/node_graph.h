// The work of one rank of a recorded trace: nodes with dependencies, sorted by id.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/ticks.h"

namespace ringwright {

enum class NodeWork : std::uint8_t {
  kLasting,  // takes `duration`
  kSend,
  kReceive,
  kCollective,
  kMemory,   // moves `bytes` from or to remote memory
  kSkipped,  // takes no time, and wakes nobody
};

// What of its rank a node occupies while it runs: one node at a time for each but kReceiver.
enum class NodeSlot : std::uint8_t { kCpu, kGpu, kCommunication, kReceiver };
inline constexpr std::size_t kNodeSlots = 4;

struct GraphNode {
  std::uint64_t id = 0;  // in the file
  NodeWork work = NodeWork::kSkipped;
  NodeSlot slot = NodeSlot::kCommunication;
  bool counts_as_gpu_time = false;
  std::uint32_t peer = 0;  // rank, or position in a graph of a collective
  std::uint32_t tag = 0;
  std::uint32_t call = 0;  // kCollective: index in CollectiveCalls
  std::int32_t priority = 0;
  Tick duration = 0;
  std::int64_t bytes = 0;
};

struct NodeGraph {
  std::vector<GraphNode> nodes = {};
  std::vector<std::uint32_t> dependencies = {};  // how many each node waits for
  std::vector<std::uint32_t> first_child = {};   // one entry more than nodes
  std::vector<std::uint32_t> children = {};      // indices of nodes

  [[nodiscard]] std::span<const std::uint32_t> children_of(std::uint32_t node) const {
    return std::span(children).subspan(first_child[node], first_child[node + 1] - first_child[node]);
  }
};

}  // namespace ringwright
