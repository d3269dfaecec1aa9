// The devices of a host as NCCL's search sees them, and the links between them at NCCL's planning rates
// (graph/topo.cc).
//
// Rates are whole MB/s: NCCL stores them to 1/1000 GB/s.
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/nccl/tables/tables.h"
#include "collectives/nccl/topology/hardware.h"
#include "core/base/index.h"

namespace ringwright::collectives {

class NcclDevices {
 public:
  enum class Device : std::uint8_t { kGpu, kNet, kSwitch, kCpu, kPciSwitch, kNic };
  enum class Wire : std::uint8_t { kNvlink, kC2c, kPci, kSocket, kNet };

  struct Link {
    int from = 0;
    int to = 0;
    Wire wire = Wire::kPci;
    int rate = 0;
    int back = 0;  // the reverse link
  };

  // Of the GPUs at these positions in the host; without `network` there are no NICs.
  NcclDevices(const NcclHost& host, const std::vector<int>& members, const NcclTables& tables, bool network);

  // Devices are numbered GPUs first, then ports of the network.
  [[nodiscard]] int count() const { return static_cast<int>(kinds_.size()); }
  [[nodiscard]] int gpus() const { return gpus_; }
  [[nodiscard]] int nets() const { return nets_; }
  [[nodiscard]] int first_cpu() const { return first_cpu_; }
  [[nodiscard]] int cpus() const { return cpus_; }
  [[nodiscard]] int nvswitch() const { return switch_; }  // -1: none
  [[nodiscard]] Device kind(int device) const { return kinds_[at(device)]; }
  [[nodiscard]] const std::vector<Link>& links() const { return links_; }
  // The device's links in the order in which NCCL visits them.
  [[nodiscard]] const std::vector<int>& links_of(int device) const { return out_[at(device)]; }
  // Of a port.
  [[nodiscard]] int net_rate() const { return net_rate_; }

 private:
  int add(Device kind);
  void connect(int a, int b, Wire wire, int rate);
  void up_last(int device, int parent);
  void add_pcie(const NcclHost& host, const std::vector<int>& members);
  void add_nvlink(const NcclHost& host, const std::vector<int>& members, double share);

  int gpus_;
  int nets_;
  int switch_ = -1;
  int first_cpu_ = 0;
  int cpus_ = 0;
  int net_rate_;
  std::vector<Device> kinds_;
  std::vector<Link> links_;
  std::vector<std::vector<int>> out_;  // by device
};

}  // namespace ringwright::collectives
