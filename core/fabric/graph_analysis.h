// Analysis of a whole fabric: reachability, shortest paths, flow across a cut. The only user of Boost.Graph.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"
#include "core/fabric/fabric.h"

namespace ringwright {

struct NodeCount {
  NodeKind kind = NodeKind::kGpu;
  std::size_t count = 0;
};

struct LinkCount {
  NodeKind from = NodeKind::kGpu;
  NodeKind to = NodeKind::kGpu;
  Bandwidth each;
  std::size_t count = 0;
};

// Kinds present, in the order of NodeKind.
[[nodiscard]] std::vector<NodeCount> count_nodes(const Fabric& fabric);
// By kinds and bandwidth.
[[nodiscard]] std::vector<LinkCount> count_links(const Fabric& fabric);

struct Connectivity {
  std::size_t unreachable_pairs = 0;                // ordered pairs of GPUs
  std::vector<std::pair<NodeId, NodeId>> examples;  // the first few of them
};
[[nodiscard]] Connectivity check_connectivity(const Fabric& fabric, std::size_t max_examples = 10);

// The most that can flow from one set of GPUs to another at once, by Goldberg and Tarjan's push-relabel method (JACM
// 1988). Every GPU of a set may send (or receive) as much as its links carry.
[[nodiscard]] Bandwidth max_flow(const Fabric& fabric, std::span<const NodeId> from, std::span<const NodeId> to);

// Max-flow from the first half of the hosts (rounded down) to all others, the hosts in the order of their GPUs: the
// capacity of a cut in the middle of the machine in one direction. The cut is by position; it is not the worst of all
// cuts.
[[nodiscard]] Bandwidth bisection_bandwidth(const Fabric& fabric, std::size_t gpus_per_host);

}  // namespace ringwright
