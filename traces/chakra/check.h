// Whether the nodes of a trace are a graph that can be played: unique ids, known dependencies, no cycle.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/diagnostic.h"
#include "traces/chakra/trace.h"

namespace ringwright::traces {

struct ChakraOrder {
  // Positions in ChakraTrace::nodes, each after those that it depends on; among those that are ready, by id.
  std::vector<std::uint32_t> nodes;
  // By position in ChakraTrace::nodes: positions of those that it depends on, ascending and without repetitions.
  std::vector<std::uint32_t> first_dependency;  // into `dependencies`; one more than nodes
  std::vector<std::uint32_t> dependencies;
};

// All findings: ids that two nodes have, dependencies on ids that no node has, and one cycle with its ids.
[[nodiscard]] Result<ChakraOrder> order_nodes(const ChakraTrace& trace);

// The ids of nodes of which each waits for the next one and the last for the first; empty: no nodes do.
[[nodiscard]] std::vector<std::uint64_t> find_cycle(const ChakraTrace& trace);

}  // namespace ringwright::traces
