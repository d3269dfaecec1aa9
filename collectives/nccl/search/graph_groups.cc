// The channels of a communicator: those that its worst host finds. Every rank searches its own host; then all exchange
// their results and take the fewest channels, the lowest rates and the worst paths (initTransportsRank of NCCL's
// src/init.cc), while each host keeps its own orders and NICs.
#include <algorithm>
#include <array>
#include <utility>

#include "collectives/nccl/search/graph.h"
#include "collectives/nccl/search/nics_left.h"
#include "core/base/index.h"

namespace ringwright::collectives {
namespace {

// Without the NICs that are missing on such a host; graphs number the others as on a complete host.
NcclGraphs graphs_of_kind(const NcclHost& host, const HostMembers& kind, const NcclTables& tables, bool several_hosts) {
  const NcclHost& own = host.of(kind.nic_set);
  if (kind.nic_set % kNicSetsOfKind == 0) return find_graphs_on_host(own, kind.gpus, tables, several_hosts);
  const std::vector<int> left = nics_left(host, kind.nic_set);
  NcclGraphs graphs = find_graphs_on_host(with_nics(own, left), kind.gpus, tables, several_hosts);
  for (NcclGraph* graph : {&graphs.ring, &graphs.tree, &graphs.nvls, &graphs.collnet, &graphs.collnet_chain}) {
    for (std::array<int, 2>& ports : graph->ports) {
      for (int& port : ports) port = left[at(port)];
    }
  }
  return graphs;
}

int compute_channels(const NcclGraph& ring, int compute_capability, bool several_hosts, const NcclTables& tables) {
  const int most = tables.channels.most;
  int channels = std::min(ring.channels * 2, most);
  // Fast NICs from Hopper on: four compute channels per channel found.
  const bool few = channels <= tables.search.four_for_one_up_to;
  if (compute_capability >= 90 && several_hosts && ring.inside_gb > 45.0 && few) channels *= 2;
  return std::min(channels, most);
}

void take_worse(const NcclGraph& other, NcclGraph& graph) {
  graph.channels = std::min(graph.channels, other.channels);
  graph.inside_gb = std::min(graph.inside_gb, other.inside_gb);
  graph.between_gb = std::min(graph.between_gb, other.between_gb);
  graph.inside = std::max(graph.inside, other.inside);
  graph.between = std::max(graph.between, other.between);
  graph.same_channels = graph.same_channels && other.same_channels;
  graph.plain_tree = graph.plain_tree || other.plain_tree;
  graph.orders.clear();  // of one host only
  graph.ports.clear();
  graph.relays.clear();
}

}  // namespace

std::set<HostMembers> members_by_host(const GroupLayout& layout) {
  std::set<HostMembers> result;
  HostMembers members;
  const HostMembers* last = nullptr;  // most hosts are as the one before
  for (int host = 0; host < layout.host_count(); ++host) {
    members.nic_set = layout.nic_set_of(host);
    members.gpus.clear();
    for (const int index : layout.hosts[at(host)]) members.gpus.push_back(layout.gpu_of[at(index)]);
    std::sort(members.gpus.begin(), members.gpus.end());
    if (last == nullptr || members != *last) last = &*result.insert(members).first;
  }
  return result;
}

NcclGraphs find_nccl_graphs(const NcclHost& host, const GroupLayout& layout, const NcclTables& tables) {
  const bool several_hosts = layout.host_count() > 1;
  const std::set<HostMembers> members = members_by_host(layout);
  std::vector<NcclGraphs> of_members;
  NcclGraphs result;
  for (const HostMembers& kind : members) {
    const NcclGraphs& graphs = of_members.emplace_back(graphs_of_kind(host, kind, tables, several_hosts));
    if (of_members.size() == 1) {
      result = graphs;
      continue;
    }
    take_worse(graphs.ring, result.ring);
    take_worse(graphs.tree, result.tree);
    take_worse(graphs.nvls, result.nvls);
    take_worse(graphs.collnet, result.collnet);
    take_worse(graphs.collnet_chain, result.collnet_chain);
  }
  result.compute_channels =
      compute_channels(result.ring, host.weakest_of(layout).compute_capability, several_hosts, tables);
  if (members.size() == 1) return result;
  result.members.assign(members.begin(), members.end());
  result.of_members = std::move(of_members);
  return result;
}

}  // namespace ringwright::collectives
