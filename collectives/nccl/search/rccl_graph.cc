#include "collectives/nccl/search/rccl_graph.h"

#include <algorithm>
#include <span>
#include <vector>

#include "collectives/nccl/search/capacity.h"

namespace ringwright::collectives {
namespace {

// A slower list entry is tried while it exceeds this fraction of the best found (search.cc).
constexpr double kRcclWorthTrying = 0.49;

struct Search {
  const HostCapacity& host;
  std::span<const double> speeds;
  bool several_hosts = false;
  int least = 1;
  int most = 1;  // half of a communicator's limit

  [[nodiscard]] int count(double inside, double between) const {
    const int fitting = several_hosts ? host.rings_between(inside, between) : host.rings_inside(inside);
    return std::min(fitting, most);
  }
};

// First pass: the bandwidth with the highest total, faster channels first.
NcclGraph fastest_channels(const Search& search, double total) {
  NcclGraph best;
  const double fastest = search.host.fastest(search.several_hosts);
  std::size_t first = 0;
  while (first + 1 < search.speeds.size() &&
         (search.speeds[first] > fastest || search.speeds[first] * search.least > total)) {
    ++first;
  }
  for (std::size_t i = first; i < search.speeds.size(); ++i) {
    const double speed = search.speeds[i];
    if (best.channels > 0 && speed / best.between_gb <= kRcclWorthTrying) break;
    const int channels = search.count(speed, speed);
    if (channels < search.least || channels * speed <= best.channels * best.inside_gb) continue;
    best.channels = channels;
    best.inside_gb = best.between_gb = speed;
    if (channels == search.most || channels * speed >= search.host.total()) break;
  }
  return best;
}

// Wide channels are doubled, each with half of the bandwidth.
void double_wide(NcclGraph& graph, int compute_capability, int most) {
  if (graph.channels == 0 || graph.inside_gb < 25.0) return;
  if (compute_capability > 80 && graph.inside_gb < 50.0 && graph.channels > 4) return;
  const int doubled = std::min(graph.channels * 2, most);
  const int times = (doubled + graph.channels - 1) / graph.channels;
  graph.inside_gb /= times;
  graph.between_gb /= times;
  graph.channels = doubled;
}

std::size_t not_above(std::span<const double> speeds, double speed) {
  std::size_t at = 0;
  while (at + 1 < speeds.size() && speeds[at] > speed) ++at;
  return at;
}

// Second pass: as many channels, but faster.
void speed_up_ring(const Search& search, NcclGraph& graph) {
  for (std::size_t i = not_above(search.speeds, graph.between_gb); i-- > 0;) {
    const double speed = search.speeds[i];
    if (search.count(speed, speed) < graph.channels) return;
    graph.inside_gb = graph.between_gb = speed;
  }
}

void speed_up_tree(const Search& search, NcclGraph& graph) {
  for (std::size_t i = not_above(search.speeds, graph.between_gb); i-- > 0;) {
    const double speed = search.speeds[i];
    if (graph.inside_gb >= 2.0 * graph.between_gb) return;
    if (search.count(speed, search.several_hosts ? graph.between_gb : speed) < graph.channels) return;
    graph.inside_gb = speed;
  }
}

void describe_paths(const HostCapacity& host, bool several_hosts, NcclGraph& graph) {
  graph.inside = host.size() > 1 ? host.inside() : NcclPath::kNvlink;
  graph.between = several_hosts ? host.between() : NcclPath::kPix;
}

// Where nothing fits, NCCL takes the GPUs in order, on one slow channel.
NcclGraph fallback_graph() {
  return {.channels = 1, .inside_gb = 0.1, .between_gb = 0.1, .inside = NcclPath::kSys, .between = NcclPath::kSys};
}

NcclGraph find_ring(const Search& search, int compute_capability, bool speed_up) {
  NcclGraph ring = fastest_channels(search, search.host.total());
  if (ring.channels == 0) return fallback_graph();
  double_wide(ring, compute_capability, search.most);
  if (speed_up) speed_up_ring(search, ring);
  describe_paths(search.host, search.several_hosts, ring);
  // Rings start at the GPU next to their NIC: with several NICs they differ. On a switch one order serves all.
  ring.same_channels =
      search.several_hosts ? search.host.size() == 1 || search.host.near_nics() == 1 : search.host.switched();
  return ring;
}

NcclGraph find_tree(Search search, const NcclGraph& ring) {
  const int members = search.host.size();
  search.least = search.most = ring.channels;
  // The root of a tree on one host neither sends up nor receives from above: the load of a ring over `size` GPUs is
  // that of a tree over size - 1.
  const double total = members > 1 ? search.host.total() * members / (members - 1) : search.host.total();
  NcclGraph tree = fastest_channels(search, total);
  if (tree.channels == 0) {
    tree = ring;
  } else {
    speed_up_tree(search, tree);
  }
  describe_paths(search.host, search.several_hosts, tree);
  tree.plain_tree = members == 1;
  return tree;
}

}  // namespace

NcclGraphs find_rccl_graphs(const NcclHost& host, const std::vector<int>& members, const NcclTables& tables,
                            bool several_hosts) {
  const HostCapacity capacity(host, members, tables);
  const std::size_t generation = index_of(generation_of(host.compute_capability));
  const Search search{.host = capacity,
                      .speeds = several_hosts ? tables.search.between[generation] : tables.search.inside[generation],
                      .several_hosts = several_hosts,
                      .most = tables.channels.most / 2};
  NcclGraphs graphs;
  graphs.ring = find_ring(search, host.compute_capability, tables.search.speeds_up_rings);
  graphs.tree = find_tree(search, graphs.ring);
  graphs.collnet = graphs.collnet_chain = graphs.ring;
  for (NcclGraph* graph : {&graphs.ring, &graphs.tree, &graphs.collnet, &graphs.collnet_chain}) {
    graph->nic_latency_us = host.nic_latency_us;
  }
  return graphs;
}

}  // namespace ringwright::collectives
