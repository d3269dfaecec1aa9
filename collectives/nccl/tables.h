// The numbers of NCCL's cost model for one version, as its source has them; files of them lie in configs/nccl.
// Latencies in microseconds, bandwidths in GB/s of one direction: the units of NCCL's own tables.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "collectives/nccl/vocabulary.h"
#include "core/config/config_map.h"

namespace ringwright::collectives {

using ByProtocol = std::array<double, kAllProtocols.size()>;
using ByAlgorithm = std::array<ByProtocol, kNcclAlgorithms.size()>;
using ByHosts = std::array<double, 3>;  // one host, two, more
using BandwidthTable = std::array<ByHosts, kGenerations.size()>;

struct NcclTables {
  std::string version;
  ByAlgorithm base_us{};
  std::array<ByAlgorithm, kNcclHops.size()> hop_us{};

  BandwidthTable ll_total{};           // all channels; over several hosts the row is the processor's: volta's or ampere's
  BandwidthTable ring_ll128{};         // of one channel, as all below; 0: no limit
  BandwidthTable tree_ll128{};
  BandwidthTable tree_simple{};
  BandwidthTable nvls_tree{};
  std::array<double, kGenerations.size()> nvls_efficiency{};
  std::array<std::vector<double>, kAllProtocols.size()> tree_correction;  // by powers of two from 64 B

  // Rules that changed between versions.
  double ring_ll_share = 0.5;         // of a ring's bandwidth that LL reaches
  double ring_ll_share_one_way = 0.5; // the same for what does not reduce, on one host
  double ring_ll128_share_alone = 0.92;  // LL128 with one GPU a host
  double nvls_share = 0.0;            // of the bus that NVLS reaches; 0: by efficiency and heads
  bool extra_network_steps = false;   // rings of N hosts pay 2 N network steps, not 2 (N-1)
  bool alone_as_tree = true;          // with one GPU a host, network hops cost what a tree's do
  bool pat = true;
  bool c2c_paths = true;  // knows NVLink-C2C as a way to the NIC, which LL128 may take

  // Bandwidth of a channel that the search for channels tries, fastest first, on one host and over several.
  std::array<std::vector<double>, kGenerations.size()> speeds_inside;
  std::array<std::vector<double>, kGenerations.size()> speeds_between;
  std::array<double, kGenerations.size()> nvlink_share{};  // of NVLink's raw rate that the search plans with

  // RCCL: a share of the ring's bandwidth for each algorithm and protocol instead of the limits above.
  bool by_share = false;
  std::array<ByAlgorithm, 2> bandwidth_share{};  // one host, several
};

// Reads a file of configs/nccl; mistakes are recorded in the map.
[[nodiscard]] NcclTables read_nccl_tables(ConfigMap root);

}  // namespace ringwright::collectives
