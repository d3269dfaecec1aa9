// How NCCL would carry out one collective: algorithm, protocol and resources; what a tuner decides and an executor
// plays.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/units.h"

namespace ringwright {

// How data and "data is there" travel together. kLl: 4 bytes of flag with every 4 of data; kLl128: 8 with every 120;
// kSimple: plain data, then a counter behind a memory fence.
enum class Protocol : std::uint8_t { kLl, kLl128, kSimple };
inline constexpr int kProtocols = 3;

[[nodiscard]] std::string_view to_string(Protocol protocol);

inline constexpr int kSlots = 8;  // NCCL_STEPS: of the queue between two thread blocks

// How one channel passes through a host, as NCCL's graph of it says.
struct HostPath {
  std::vector<int> order;  // places of the host's members, as rings and chains pass them
  // NICs by which messages come from and go to other hosts, by their numbers in the host; -1: that of the GPU there.
  int in = -1;
  int out = -1;
  int relay = -1;  // GPU of the host that hands messages to `out` (PXN); -1: the member that sends

  friend bool operator==(const HostPath&, const HostPath&) = default;
};

struct CollectivePlan {
  // By NCCL's names: "ring", "tree", "nvls", "nvls_tree", "collnet_direct", "collnet_chain", "pat", "p2p"; or the name
  // of an algorithm that came as a file.
  std::string algorithm;
  Protocol protocol = Protocol::kSimple;
  int channels = 1;  // thread blocks (SMs) of every rank
  int threads = 0;   // of one thread block; 0: the protocol's full number
  Bytes chunk;       // useful data in one slot; 0: the protocol's default
  Bytes grain = {};  // small buffers are cut into multiples of it, so that some channels may get less; 0: evenly
  // How rings and chains pass through hosts, by kind of host and kind of channel; of every host there are as many.
  // Empty: through the members in their order, by their own NICs.
  std::vector<std::vector<HostPath>> paths = {};
  std::vector<int> kind_of_host = {};  // by host of the group: index into `paths`; empty: all are of the first kind
  // The orders of `paths` decide which links of a host carry the bytes: GPUs are joined pairwise, or a file says so.
  bool ordered = false;

  // CollNetDirect: members of a host that have a NIC to themselves, spread over the host; 0: all.
  int heads = 0;

  // PXN: messages for another rail go over NVLink to the GPU on it, and leave by its NIC.
  bool pxn = false;

  friend bool operator==(const CollectivePlan&, const CollectivePlan&) = default;
};

}  // namespace ringwright
