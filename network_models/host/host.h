// The contents of one server in the network: GPUs, their NVLink or xGMI, the PCIe tree, NICs and host memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "core/config/config_map.h"
#include "network_models/host/nic_sets.h"

namespace ringwright::network_models {

enum class ScaleUp : std::uint8_t {
  kNone,      // GPUs connect over PCIe only
  kNvSwitch,  // every GPU reaches every other at its full bandwidth through one switch plane
  kMesh,      // point-to-point links between pairs of GPUs
};

// A bundle of lanes between two GPUs.
struct MeshLink {
  int a = 0;
  int b = 0;
  int lanes = 1;
};

// What a NIC sends again after the loss of a packet: all that followed it, or it alone.
enum class Retransmission : std::uint8_t { kGoBackN, kSelective };

struct Host {
  struct NvLink {
    ScaleUp kind = ScaleUp::kNone;
    Bandwidth bandwidth;  // kNvSwitch: of one GPU, one direction; kMesh: of one lane, one direction
    double efficiency = 1.0;  // fraction of it for data, without packet headers and flow control
    Duration latency;     // GPU to GPU, one way, hardware only
    std::vector<MeshLink> mesh;
    bool reduces = false;  // the switch plane multicasts and reduces (NVLink SHARP, "NVLS")

    [[nodiscard]] Bandwidth data_rate() const { return bandwidth * efficiency; }
  };
  enum class Processor : std::uint8_t { kIntel, kAmd, kArm, kPower, kOther };
  struct Pcie {
    Processor processor = Processor::kIntel;  // NCCL plans differently for each vendor
    Bandwidth bandwidth;      // of a NIC's or a switch's slot, one direction
    Bandwidth gpu_bandwidth;  // of a GPU's slot; differs where GPUs attach to the CPU by NVLink-C2C
    Duration latency;         // of one PCIe hop
    int switches = 0;  // 0: devices attach to the sockets directly; switch s is on socket s * sockets / switches
    int sockets = 1;
    int sockets_per_board = 1;  // sockets of one board are connected pairwise, boards are not
    Bandwidth socket_bandwidth;
    Duration socket_latency;
    std::vector<int> gpu_at;  // by GPU: its PCIe switch, or its socket when there are no switches
    std::vector<int> nic_at;  // by NIC: the same
  };
  struct Nic {
    int count = 0;
    Bandwidth bandwidth;
    double efficiency = 1.0;  // fraction of it for data
    Duration latency;  // through one NIC, paid at the sender's and again at the receiver's
    int ports = 1;     // of a NIC, which share its bandwidth evenly; libraries may treat each as a separate NIC
    Bytes mtu{4096};   // the most payload of a packet
    Retransmission retransmission = Retransmission::kGoBackN;
    std::string transport = "infiniband";  // what moves messages: "roce", "slingshot", "efa", ...

    [[nodiscard]] Bandwidth data_rate() const { return bandwidth * efficiency; }
  };
  struct Memory {
    Bandwidth bandwidth;  // of one socket
    Duration latency;
    Bytes capacity;  // of one socket; 0: not known
  };
  // Local drives, spread evenly over the sockets and striped within one.
  struct Storage {
    int drives = 0;
    Bandwidth read;  // of one drive
    Bandwidth write;
    Duration latency;
    Bytes capacity;  // of one drive; 0: not known
  };

  int gpus = 1;
  // Whether NICs read and write the GPUs' memory. Otherwise data that leave or enter a host are staged in host memory:
  // they cross the GPU's slot and the bus of its socket's memory, and then that bus again and the NIC's slot.
  bool gpudirect = true;
  NvLink nvlink;
  Pcie pcie;
  Nic nic;
  Memory memory;
  Storage storage;
  NicSets nic_sets;  // of all hosts of the cluster
  // Of a cluster of several kinds of hosts (`cluster.groups`): this is kind 0, and these are kinds 1, 2, ... All kinds
  // have the same number of GPUs.
  std::vector<Host> others;
  std::vector<int> kind_of_host;  // by host of the cluster; empty: all hosts are of kind 0

  [[nodiscard]] std::size_t kinds() const { return 1 + others.size(); }
  [[nodiscard]] const Host& kind(std::size_t number) const { return number == 0 ? *this : others[number - 1]; }
  [[nodiscard]] const Host& kind_at(std::int64_t host) const {
    return kind_of_host.empty() ? *this : kind(static_cast<std::size_t>(kind_of_host[static_cast<std::size_t>(host)]));
  }
  // Over all kinds.
  [[nodiscard]] int most_nics() const;
  [[nodiscard]] Bandwidth fastest_nic() const;
  [[nodiscard]] Bandwidth slowest_slot() const;  // of a GPU
  [[nodiscard]] bool every_kind_has_nics() const;

  // All kinds without GPUDirect; bytes cross a GPU's slot at most at the rate of its copies.
  void pass_through_memory(Bandwidth copies);
  // All kinds without NVLink: GPUs exchange data over PCIe.
  void leave_out_nvlink();
  // The NIC of a GPU's outgoing traffic: under its own PCIe switch and with the same position there, else by
  // proportion.
  [[nodiscard]] int nic_of(int gpu) const;
};

// Devices spread over their attachment points in equal blocks: device d of n is on point d * points / n.
[[nodiscard]] std::vector<int> spread_evenly(int devices, int points);

// Reads `cluster.node`, except `gpu`, which belongs to the compute side.
[[nodiscard]] Host read_host(ConfigMap& node);

}  // namespace ringwright::network_models
