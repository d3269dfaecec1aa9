// A job as graphs of nodes, one per rank, with the collectives they call: what ASTRA-sim calls a workload.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/plan/chunked_collective.h"
#include "core/plan/node_graph.h"

namespace ringwright {

struct RankGroup {
  std::string name;
  std::vector<std::uint32_t> members = {};  // ranks by position; empty: all ranks in order
  std::vector<std::uint32_t> order = {};    // positions by ascending rank

  [[nodiscard]] std::uint32_t size(std::uint32_t ranks) const {
    return members.empty() ? ranks : static_cast<std::uint32_t>(members.size());
  }
  // kNoPosition for a rank that is no member.
  [[nodiscard]] std::uint32_t position_of(std::uint32_t rank) const;
};

// Every node that calls the same collective on the same group refers to the same entry.
struct GraphCall {
  std::uint32_t plan = 0;
  std::uint32_t group = 0;
  std::string name;  // "all_reduce of 1048576 bytes"
};

struct NodeJob {
  std::vector<NodeGraph> graphs;        // distinct ones
  std::vector<std::uint32_t> graph_of;  // by rank
  std::vector<RankGroup> groups;        // the first is the whole job
  std::vector<ChunkedCollective> plans;
  std::vector<GraphCall> calls;
  std::vector<std::vector<NodeGraph>> graph_sets;  // of collectives given as graphs: by position

  [[nodiscard]] std::uint32_t ranks() const { return static_cast<std::uint32_t>(graph_of.size()); }
};

}  // namespace ringwright
