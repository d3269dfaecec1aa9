// One host as seen by NCCL's topology detection: raw rates from data sheets, device attachment, CPU vendor.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/base/units.h"
#include "core/plan/collective_call.h"

namespace ringwright::collectives {

// The rate in GB/s that NCCL plans with for a PCIe connection: 0.75 per lane of PCIe 3.0, whose raw rate is 8 GT/s *
// 128/130, and multiples of it for wider and faster slots (graph/topo.h).
[[nodiscard]] inline double planned_pcie(Bandwidth raw) {
  constexpr double kLanePlanned = 0.75;
  constexpr double kLaneRaw = 8.0 / 8.0 * 128.0 / 130.0;
  return std::round(raw.count() / 1e9 / kLaneRaw) * kLanePlanned;
}

enum class Processor : std::uint8_t { kIntel, kAmd, kArm, kPower, kOther };

struct NcclHost {
  enum class Links : std::uint8_t { kPcie, kSwitch, kMesh };
  struct Lanes {
    int a = 0;
    int b = 0;
    Bandwidth bandwidth;  // of all lanes between the two, one direction
  };

  int gpus = 8;
  int compute_capability = 90;  // 90 for 9.0
  Links links = Links::kPcie;
  Bandwidth nvlink;          // kSwitch: of one GPU
  std::vector<Lanes> lanes;  // kMesh
  bool multicast = false;    // the NVSwitches reduce and multicast (NVLS)

  Bandwidth pcie;        // of an x16 slot
  Bandwidth gpu_slot;    // of a GPU's connection to the host; above `pcie` it is NVLink-C2C
  Bandwidth socket;      // between two sockets; 0: NCCL's default by CPU vendor
  int pcie_switches = 0;
  int sockets = 1;
  std::vector<int> gpu_at;  // by GPU: its PCIe switch, or its socket when there are none
  std::vector<int> nic_at;  // by NIC: the same
  int nics = 0;
  int ports = 1;  // of a NIC: number of `nics` entries per NIC of the host
  // By set of NICs (GroupLayout::nic_set): NICs of the host, counted without their ports, that are missing on hosts of
  // this set. Set 0 is complete; empty: all sets are.
  std::vector<std::vector<int>> missing_nics;
  Bandwidth nic;
  bool gpudirect = true;         // NICs read and write GPU memory; otherwise all traffic goes through the CPU
  bool network_reduces = false;  // the switches between hosts reduce (SHARP)
  bool pxn = true;               // GPUs may send through NICs of other GPUs (PXN)
  int cross_nic = 2;            // NCCL_CROSS_NIC
  bool collnet = false;         // the network switches reduce
  double nic_latency_us = 0.0;  // the `latency` attribute that a network plug-in states
  Processor processor = Processor::kIntel;

  // Where hosts are of several kinds (GroupLayout::nic_set): this one is kind 0, and these are kinds 1, 2, ... What
  // users set, and what NICs are missing, is that of kind 0.
  std::vector<NcclHost> others;
  // The host of such a number.
  [[nodiscard]] const NcclHost& of(int nic_set) const;
  // Of a communicator's hosts the one that limits what the library may do: NCCL plans by the lowest compute capability
  // (minCompCap in init.cc), and uses NVLS only where every host has it.
  [[nodiscard]] const NcclHost& weakest_of(const GroupLayout& layout) const;

  [[nodiscard]] bool by_c2c() const { return gpu_slot > pcie; }
  [[nodiscard]] int socket_of(int point) const { return pcie_switches > 0 ? point * sockets / pcie_switches : point; }
};

}  // namespace ringwright::collectives
