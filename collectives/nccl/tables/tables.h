// The numbers of NCCL's cost model for one version, as in its source; the files are in configs/nccl. Latencies in
// microseconds, bandwidths in GB/s of one direction: the units of NCCL's own tables.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "collectives/nccl/tables/vocabulary.h"
#include "core/config/config_map.h"

namespace ringwright::collectives {

using ByProtocol = std::array<double, kAllProtocols.size()>;
using ByAlgorithm = std::array<ByProtocol, kNcclAlgorithms.size()>;
using ByHosts = std::array<double, 3>;  // one host, two, more
using BandwidthTable = std::array<ByHosts, kGenerations.size()>;

struct NcclLatencies {
  ByAlgorithm base_us{};
  std::array<ByAlgorithm, kNcclHops.size()> hop_us{};
};

struct NcclBandwidthLimits {
  BandwidthTable ll_total{};    // all channels; over several hosts the row is the CPU's: volta's or ampere's
  BandwidthTable ring_ll128{};  // of one channel, as all below; 0: no limit
  BandwidthTable tree_ll128{};
  BandwidthTable tree_simple{};
  BandwidthTable nvls_tree{};
  std::array<double, kNcclKinds>
      ring_ll128_of_kind{};                       // of one channel, by kind instead of generation; 0: by generation
  std::array<double, kGenerations.size()> bus{};  // of all channels; 0: none
  bool exact_gpus = false;                        // compute capabilities other than 8.0 and 9.0 have Volta's rows
};

struct NcclRingRules {
  double ll_share = 0.5;                              // of a ring's bandwidth that LL reaches
  double ll_share_one_way = 0.5;                      // the same without reduction, on one host
  double ll128_share_alone = 0.92;                    // LL128 with one GPU per host
  double ll_inside_factor = 1.0;                      // on LL's hops inside hosts where there are several
  std::array<double, kGenerations.size()> plateau{};  // factor on the latency of rings with Simple between hosts
  bool plateau_by_ranks = false;                      // from 4 KiB for each rank on, not 64 B for each channel and rank
  bool posts = true;                 // hops of a ring inside hosts take no less than a post to the network
  bool extra_network_steps = false;  // rings of N hosts pay 2 N network steps, not 2 (N-1)
  bool alone_as_tree = true;         // with one GPU per host, network hops cost the same as a tree's
};

struct NcclTreeRules {
  double ll128_share = 120.0 / 128.0;                                // between hosts, of a tree's bandwidth
  double plain_share = 0.85;                                         // for a tree that is a chain in each host
  std::array<std::vector<double>, kAllProtocols.size()> correction;  // by powers of two from 64 B
  bool chunks_by_depth = false;  // trees with Simple cut small buffers into smaller chunks
  bool all_threads = true;       // trees run with all threads of a block, whatever the size and the protocol
};

struct NcclPathRules {
  bool pxn = true;                   // supports paths through another GPU (PXN)
  int pxn_from_ranks = 0;            // of a communicator, for sends; fewer use it only with NCCL_PXN_DISABLE=0
  bool pxn_keeps_ll128 = true;       // from Hopper on LL128 may use another GPU to the NIC (PXN)
  bool nvb_keeps_ll128 = true;       // LL128 may pass through a GPU between two others (NVB)
  std::vector<int> ll128_gpus;       // compute capabilities with LL128, 90 for 9.0; empty: all from 70 on
  bool mixed_processors = true;      // hosts of several CPU vendors count as such, not as the weakest host's
  bool c2c = true;                   // supports NVLink-C2C as a path to the NIC, also for LL128
  double intel_socket_limit = 40.0;  // between sockets of Intel CPUs, GB/s: the newest that the version knows
  double amd_socket = 16.0;          // between sockets of AMD's CPUs, GB/s
};

struct NcclPatRules {
  bool supported = true;
  double share = 0.75;
};

// In-switch reduction.
struct NcclNvlsRules {
  bool supported = true;
  bool over_hosts = true;             // NVLS trees
  bool large_tree_chunks = false;     // their chunks start at 512 KiB, not 128 KiB
  bool on_rings = false;              // planned with the rings' channels
  bool gathers = true;                // also all-gather and reduce-scatter
  bool gathers_over_hosts = true;     // those over several hosts too, by CollNet
  bool within_channels = true;        // over hosts by CollNet, no more channels than the communicator has
  double share = 0.0;                 // of the bus bandwidth; 0: by efficiency and heads
  double tree_share = 0.0;            // of trees over N hosts, times N / (2 (N-1)); 0: as on one host
  bool share_of_gathers = false;      // all-gather and reduce-scatter reach that share too
  bool gathers_others = true;         // their bandwidth counts the other ranks' data, and 0.9 of the network's
  bool by_levels = true;              // trees pay per level, not per host
  int blackwell_channels = 32;        // from Blackwell on, over hosts
  int blackwell_channels_alone = 24;  // and on one host
  std::array<double, kGenerations.size()> efficiency{};
};

struct NcclCollnetRules {
  double chain_share = 1.0;
  bool chain_network = true;         // a chain pays the network hop
  double arity_us = 0.4;             // per GPU of a host
  double direct_from_hopper = 0.85;  // share of the bus bandwidth of all-reduces by all GPUs, from Hopper on
  bool gathers = true;               // also all-gather and reduce-scatter
  bool gathers_by_members = false;   // 0.95 of the bus bandwidth with one GPU per host to 0.85 with eight
};

struct NcclChannelRules {
  int most = kNcclMaxChannels;
  bool merges_ports = true;               // the ports of one NIC are one device
  std::int64_t least_traffic = 32 << 10;  // of a channel, before another one joins; 0: no matter
  std::int64_t traffic_unit = 0;          // buffers are divided among channels by so many bytes; 0: least_traffic's
  int ll_traffic = 4;                     // factor on the traffic of LL
  bool chunks_by_threads = false;  // rings and trees cut buffers into multiples of what a block's threads process at
                                   // once
};

// Sends and receives.
struct NcclMessageRules {
  bool ll = true;           // small ones use LL where connections have its buffers
  bool small_parts = true;  // a channel joins for each 64 KiB of a message (256 KiB between hosts), not for each slot
  bool ll_by_channels = false;  // NCCL_P2P_LL_THRESHOLD is of each channel that a peer may have, not of those it takes
  bool by_net_rate = true;      // a peer on another host has a channel for each 14 GB/s of the NIC, not two at most
  bool fewer_for_many = false;  // channels of a peer halve while those of all ranks are more than four times all
  bool four_of_lane = false;    // a peer has four channels for each xGMI lane that joins it, not two for each link
  std::int64_t pcie_chunk = 128 << 10;
  std::int64_t nvlink_chunk = 512 << 10;
};

struct NcclSearchRules {
  bool speeds_up_rings = true;     // the search's second pass
  bool doubles_first = true;       // wide channels are doubled before that pass, not after it
  bool pairs_swap_nics = true;     // NCCL_CROSS_NIC=2 tries pairs of channels that swap NICs, not any two NICs
  bool plain_trees = true;         // from Hopper on a chain is tried before farther paths
  bool starts_by_channels = true;  // at the speed that the least number of channels can have together
  bool one_order_over_amd = true;  // different orders are not tried between sockets of AMD's CPUs
  int doubled_from_hopper = 4;     // from Hopper on so many channels of 25 to 50 GB/s are doubled, not more
  int four_for_one_up_to = 15;     // channels with fast NICs that are doubled once more
  double crossing_gain = 0.0;      // by which channels that cross NICs must be faster than those that do not
  // Channel bandwidths that the search tries, fastest first, on one host and over several.
  std::array<std::vector<double>, kGenerations.size()> inside;
  std::array<std::vector<double>, kGenerations.size()> between;
  std::array<double, kGenerations.size()> nvlink_share{};  // of NVLink's raw rate that the search plans with
};

// RCCL: all-reduces of this many members on one host use all pairs; each thread block of its files is a channel here.
struct RcclAllPairs {
  int members = 0;             // 0: never
  std::int64_t from = 0;       // a multiple of elements for each of its chunks
  std::int64_t few_up_to = 0;  // with `few_blocks`, beyond with `blocks`
  int few_blocks = 1;
  int blocks = 1;
  std::int64_t ll_up_to = 0;  // then Simple
  std::int64_t up_to = 0;
};

struct RcclRules {
  bool by_share = false;  // a share of the ring's bandwidth per algorithm and protocol instead of the limits above
  std::array<ByAlgorithm, 2> bandwidth_share{};                           // up to two hosts, more
  std::array<std::vector<double>, kAllProtocols.size()> ring_correction;  // as NcclTreeRules::correction
  // All-reduces over hosts use LL and LL128 up to these sizes (0: by cost); LL128 further with each doubling of hosts.
  std::int64_t ll_up_to = 0;
  std::int64_t ll128_up_to = 0;
  std::int64_t ll128_more_by_doubling = 0;
  RcclAllPairs all_pairs;
};

// `ringwright explain nccl-VERSION` prints each value with its file, line and source.
struct NcclTables {
  std::string version;
  NcclLatencies latency;
  NcclBandwidthLimits bandwidth;
  NcclRingRules ring;
  NcclTreeRules tree;
  NcclPathRules paths;
  NcclPatRules pat;
  NcclNvlsRules nvls;
  NcclCollnetRules collnet;
  NcclChannelRules channels;
  NcclMessageRules messages;
  NcclSearchRules search;
  RcclRules rccl;
};

// Reads a file of configs/nccl; mistakes are recorded in the map.
[[nodiscard]] NcclTables read_nccl_tables(ConfigMap root);

}  // namespace ringwright::collectives
