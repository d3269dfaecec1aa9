// How NCCL would run one collective: algorithm, protocol and resources; chosen by a tuner and simulated by an executor.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/units.h"

namespace ringwright {

// How data and their arrival flags travel together. kLl: 4 bytes of flag with every 4 of data; kLl128: 8 with every
// 120; kSimple: plain data, then a counter behind a memory fence.
enum class Protocol : std::uint8_t { kLl, kLl128, kSimple };
inline constexpr int kProtocols = 3;

[[nodiscard]] std::string_view to_string(Protocol protocol);

inline constexpr int kSlots = 8;  // NCCL_STEPS: of the queue between two thread blocks

// How one channel passes through a host, as in NCCL's graph.
struct HostPath {
  std::vector<int> order;  // positions of the host's members, as rings and chains pass them
  // NICs by which messages come from and go to other hosts, by their numbers in the host; -1: that of the GPU there.
  int in = -1;
  int out = -1;
  int relay = -1;  // GPU of the host that hands messages to `out` (PXN); -1: the member that sends

  friend bool operator==(const HostPath&, const HostPath&) = default;
};

struct CollectivePlan {
  // By NCCL's names: "ring", "tree", "nvls", "nvls_tree", "collnet_direct", "collnet_chain", "pat", "p2p"; or the name
  // of an algorithm read from a file.
  std::string algorithm;
  Protocol protocol = Protocol::kSimple;
  int channels = 1;  // thread blocks (SMs) of every rank
  int threads = 0;   // of one thread block; 0: the protocol's full number
  Bytes chunk;       // useful data in one slot; 0: the protocol's default
  Bytes grain = {};  // small buffers are cut into multiples of it, so some channels may get less; 0: evenly
  // How rings and chains pass through hosts, by kind of host and kind of channel; every host has the same number.
  // Empty: through the members in their order, over their own NICs.
  std::vector<std::vector<HostPath>> paths = {};
  std::vector<int> kind_of_host = {};  // by host of the group: index into `paths`; empty: all are of the first kind
  // The order of members decides which links of a host carry the bytes: GPUs are connected pairwise, a chain passes
  // PCIe, or a file sets it.
  bool ordered = false;
  // The busiest NIC of a host carries another share of `paths` than of rings that leave by its members' own NICs.
  bool spreads_nics = false;

  // CollNetDirect: members of a host with a NIC of their own, spread over the host; 0: all.
  int heads = 0;

  int message_channels = 0;  // p2p: channels that share a message; 0: as many as fit for all members

  // PXN: messages for another rail go over NVLink to the GPU on it, and leave by its NIC.
  bool pxn = false;

  friend bool operator==(const CollectivePlan&, const CollectivePlan&) = default;
};

// Threads of one block at which the protocol's rate was measured (NCCL_SIMPLE_MAX_NTHREADS, NCCL_LL_MAX_NTHREADS,
// NCCL_LL128_MAX_NTHREADS).
[[nodiscard]] constexpr int full_threads(Protocol protocol) { return protocol == Protocol::kLl128 ? 640 : 512; }

// How fast a block with the plan's threads, or with this share of them, moves bytes, relative to the full number.
//
// With fewer threads a block of Simple moves less in proportion. Where flags travel with the data, a pass over the
// threads' lines takes a fixed time for any number of threads, so that half of the threads still do 1/sqrt(2):
// all-reduce of 4 to 32 KiB on one channel of 8 A100 takes 0.63, 0.67, 0.83, 1.34 us a step with 64, 128, 256, 512
// threads (ABCI, NCCL 2.8.4; validation/nccl/abci_a100_intra8_all_reduce.csv).
[[nodiscard]] double thread_speed(const CollectivePlan& plan, double share_of_channel = 1.0);

}  // namespace ringwright
