// The vocabulary of collectives: the operation of a group, and how the group is laid out on the machine.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"

namespace ringwright {

enum class CollectiveKind { kAllReduce, kAllGather, kReduceScatter, kAllToAll, kBroadcast, kReduce };

[[nodiscard]] std::string_view to_string(CollectiveKind kind);

// The last members of a group may be parameter servers (Li et al., OSDI 2014): the others send them gradients and get
// parameters back. Each holds an equal part.
struct ParameterServers {
  int count = 0;          // 0: the group has none
  bool dedicated = true;  // they compute no gradients themselves

  friend auto operator<=>(const ParameterServers&, const ParameterServers&) = default;
};

// A host of which some NICs are down while the job runs, and that all-reduces are planned around (R2CCL, arXiv
// 2512.25059).
struct LostNics {
  int host = 0;  // as GroupLayout numbers them
  int lost = 0;  // a bit for each, by its number
  int of = 0;    // NICs of the host

  friend auto operator<=>(const LostNics&, const LostNics&) = default;
};

inline constexpr int kNicSetsOfKind = 1 << 16;
// The kind of host of such a number.
[[nodiscard]] constexpr int kind_of_host(int nic_set) { return nic_set / kNicSetsOfKind; }

// How the ranks of a group are laid out on the cluster's machines ("hosts": a server with its GPUs). Groups of one
// shape share one layout. Index = a rank's index in the group, 0-based.
struct GroupLayout {
  std::vector<int> host_of;                // by index: which host, numbered 0.. in order of first appearance
  std::vector<int> place_in_host;          // by index: how many earlier indices share its host
  std::vector<std::vector<int>> hosts;     // by host: its indices, ascending
  std::vector<int> gpu_of;                 // by index: position of the GPU in its host (the rail), 0-based
  std::vector<int> host_order;             // all indices, host by host: the ring order
  std::vector<int> position;               // by index: its position in host_order
  // By host: its kind and which of the machine's sets of NICs it has, where hosts are of several kinds or some miss
  // NICs: kind * kNicSetsOfKind + set. Empty: every host is of kind 0 and has all NICs.
  std::vector<int> nic_set;
  ParameterServers servers = {};           // of the group
  std::vector<LostNics> lost_nics;         // that all-reduces are planned around, by host
  int smallest_host = 0;                   // members on the host with the fewest, and the most
  int largest_host = 0;

  [[nodiscard]] int size() const { return static_cast<int>(host_of.size()); }
  [[nodiscard]] int host_count() const { return static_cast<int>(hosts.size()); }
  // Every host holds the same number of the group's ranks.
  [[nodiscard]] bool even() const { return smallest_host == largest_host; }
  [[nodiscard]] int nic_set_of(int host) const {
    return nic_set.empty() ? 0 : nic_set[static_cast<std::size_t>(host)];
  }
  friend bool operator==(const GroupLayout&, const GroupLayout&) = default;
};

// Builds a layout from each index's host (any numbers, equal = same host) and GPU position.
[[nodiscard]] GroupLayout make_group_layout(const std::vector<std::int64_t>& host, const std::vector<int>& gpu);
// `ranks` members, consecutive, `per_host` to a host.
[[nodiscard]] GroupLayout make_block_layout(int ranks, int per_host);

// `bytes` is the largest buffer a rank holds, as nccl-tests counts: all-reduce, broadcast, reduce: the buffer;
// all-gather: the gathered output; reduce-scatter: the full input; all-to-all: a rank's whole send buffer.
struct CollectiveCall {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  Bytes bytes;
  const GroupLayout* layout = nullptr;  // outlives the call
  DimensionId dimension;                // the parallel dimension of the call, for per-dimension choices
  int root = 0;                         // broadcast and reduce

  [[nodiscard]] int size() const { return layout->size(); }
};

// A message between two members of a group.
struct MessageCall {
  Bytes bytes;
  const GroupLayout* layout = nullptr;  // of the group; outlives the call
  int from = 0;                         // indices in the group
  int to = 0;
  DimensionId dimension;

  [[nodiscard]] bool leaves_host() const {
    return layout->host_of[static_cast<std::size_t>(from)] != layout->host_of[static_cast<std::size_t>(to)];
  }
};

}  // namespace ringwright
