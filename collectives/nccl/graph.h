// The channels that NCCL finds in the hosts of a group: how many there are and what each carries, for each pattern.
//
// NCCL searches for the fastest bandwidth of a channel, from a fixed list, at which as many channels fit into the
// links; then it doubles, speeds up and limits them (graph/search.cc, graph/connect.cc). Here the number that fits is
// found by counting capacity: every channel passes every GPU of the host once, and enters and leaves the host once.
// On meshes of NVLink whose pairs are unequal the rings themselves are searched for.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "collectives/nccl/hardware.h"
#include "collectives/nccl/tables.h"
#include "core/plan/collective_call.h"

namespace ringwright::collectives {

// How near two devices are, best first, as NCCL orders its paths.
enum class NcclPath : std::uint8_t { kNvlink, kPix, kPxb, kP2c, kPxn, kPhb, kSys };

struct NcclGraph {
  int channels = 0;         // found by the search; 0: the pattern does not fit
  double inside_gb = 0.0;   // GB/s of one channel in a host
  double between_gb = 0.0;  // and between hosts
  NcclPath inside = NcclPath::kNvlink;
  NcclPath between = NcclPath::kPix;
  bool same_channels = true;  // all channels run alike
  bool plain_tree = false;    // a chain in each host, one GPU with both the network's directions
  double nic_latency_us = 0.0;
};

struct NcclGraphs {
  NcclGraph ring;
  NcclGraph tree;
  NcclGraph nvls;
  NcclGraph collnet;
  int compute_channels = 1;  // of rings and trees, after doubling
};

// The members of a group by host, in NCCL's terms.
struct NcclGroup {
  int ranks = 1;
  int hosts = 1;
  [[nodiscard]] double per_host() const { return static_cast<double>(ranks) / hosts; }
};

// What a group with `layout` finds on hosts that are all alike. Over hosts with different members the worst counts.
[[nodiscard]] NcclGraphs find_nccl_graphs(const NcclHost& host, const GroupLayout& layout, const NcclTables& tables);

}  // namespace ringwright::collectives
