// The channels that NCCL finds in the hosts of a communicator: their number and bandwidth, for each pattern.
//
// NCCL searches for the fastest bandwidth of a channel, from a fixed list, at which enough channels fit into the links,
// admitting worse paths step by step; then it doubles, speeds up and limits them (graph/search.cc, graph/connect.cc).
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <set>
#include <vector>

#include "collectives/nccl/tables/tables.h"
#include "collectives/nccl/topology/hardware.h"
#include "collectives/nccl/topology/topology.h"
#include "core/plan/collective_call.h"

namespace ringwright::collectives {

struct NcclGraph {
  int channels = 0;         // found by the search; 0: the pattern does not fit
  double inside_gb = 0.0;   // GB/s of one channel in a host
  double between_gb = 0.0;  // and between hosts
  NcclPath inside = NcclPath::kNvlink;
  NcclPath between = NcclPath::kPix;
  bool same_channels = true;  // all channels use the same order
  bool plain_tree = false;    // a chain in each host, one GPU with both network directions
  double nic_latency_us = 0.0;
  std::vector<std::vector<int>> orders;   // by channel: positions of the members in their host, in path order
  std::vector<std::array<int, 2>> ports;  // by channel: NICs by which it enters and leaves; empty within one host
  // By channel: the GPU of the host that passes the messages of the last one (of a chain: of the first one) to the NIC
  // by which the channel leaves (PXN); -1: that GPU sends itself. Empty within one host.
  std::vector<int> relays;
  bool swaps_nics = false;  // NCCL_CROSS_NIC=2: channels in pairs; every second host uses the pair's other channel
};

// A host as part of a communicator: the positions of the members in it, ascending, and its set of NICs.
struct HostMembers {
  std::vector<int> gpus;
  int nic_set = 0;

  friend auto operator<=>(const HostMembers&, const HostMembers&) = default;
};

struct NcclGraphs {
  NcclGraph ring;
  NcclGraph tree;
  NcclGraph nvls;
  NcclGraph collnet;        // directly from and to all GPUs of a host
  NcclGraph collnet_chain;
  int compute_channels = 1;  // of rings and trees, after doubling

  // Where hosts have different members, or NICs: each kind of host, and its search result.
  std::vector<HostMembers> members;
  std::vector<NcclGraphs> of_members;
};

// The members of a communicator by host, in NCCL's terms.
struct NcclGroup {
  int ranks = 1;
  int hosts = 1;
  [[nodiscard]] double per_host() const { return static_cast<double>(ranks) / hosts; }
};

// The hosts of a communicator, identical hosts once.
[[nodiscard]] std::set<HostMembers> members_by_host(const GroupLayout& layout);

// Search result on a host for members at these positions.
[[nodiscard]] NcclGraphs find_graphs_on_host(const NcclHost& host, const std::vector<int>& members,
                                             const NcclTables& tables, bool several_hosts);

// Search result of a communicator with `layout` on identical hosts, except for missing NICs. Over hosts with different
// members or NICs the worst counts.
[[nodiscard]] NcclGraphs find_nccl_graphs(const NcclHost& host, const GroupLayout& layout, const NcclTables& tables);

// For a ring whose orders and NICs are known from elsewhere, on a host with these members: fills its relays.
void find_relays(const NcclHost& host, const std::vector<int>& members, const NcclTables& tables, NcclGraph& graph);

}  // namespace ringwright::collectives
