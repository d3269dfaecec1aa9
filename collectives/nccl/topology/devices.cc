#include "collectives/nccl/topology/devices.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace ringwright::collectives {
namespace {

int mega(double giga) {
  return static_cast<int>(std::lround(giga * 1e3));
}
int mega(Bandwidth rate) {
  return mega(rate.count() / 1e9);
}

// Between sockets by CPU vendor (topo.h). Intel has four; the host's own figure selects one.
int socket_rate(const NcclHost& host, const NcclTables& tables) {
  constexpr std::array<int, 4> kIntel = {40'000, 22'000, 10'000,
                                         6'000};  // Emerald, Sapphire Rapids, Skylake, Broadwell
  switch (host.processor) {
    case Processor::kIntel: {
      const int most = mega(tables.paths.intel_socket_limit);
      const int given = host.socket.count() > 0.0 ? mega(host.socket) : 10'000;
      for (const int rate : kIntel) {
        if (given >= rate) return std::min(rate, most);
      }
      return kIntel.back();
    }
    case Processor::kAmd: return mega(tables.paths.amd_socket);
    case Processor::kPower: return 32'000;
    case Processor::kArm:
    case Processor::kOther: return 6'000;
  }
  return 6'000;
}

}  // namespace

NcclDevices::NcclDevices(const NcclHost& host, const std::vector<int>& members, const NcclTables& tables, bool network)
    : gpus_(static_cast<int>(members.size())), nets_(network ? host.nics : 0), net_rate_(mega(host.nic)) {
  for (int gpu = 0; gpu < gpus_; ++gpu) add(Device::kGpu);
  for (int port = 0; port < nets_; ++port) add(Device::kNet);
  add_pcie(host, members);
  add_nvlink(host, members, tables.search.nvlink_share[index_of(generation_of(host.compute_capability))]);
  const int between = socket_rate(host, tables);
  for (int a = 0; a < cpus_; ++a) {
    for (int b = a + 1; b < cpus_; ++b) connect(first_cpu_ + a, first_cpu_ + b, Wire::kSocket, between);
  }
}

int NcclDevices::add(Device kind) {
  kinds_.push_back(kind);
  out_.emplace_back();
  return static_cast<int>(kinds_.size()) - 1;
}

// Links of a device are sorted fastest first; ties by age.
void NcclDevices::connect(int a, int b, Wire wire, int rate) {
  const int there = static_cast<int>(links_.size());
  links_.push_back({.from = a, .to = b, .wire = wire, .rate = rate, .back = there + 1});
  links_.push_back({.from = b, .to = a, .wire = wire, .rate = rate, .back = there});
  for (const int link : {there, there + 1}) {
    std::vector<int>& out = out_[at(links_[at(link)].from)];
    const auto slower = std::ranges::find_if(out, [&](int other) { return links_[at(other)].rate < rate; });
    out.insert(slower, link);
  }
}

// Downward links are visited before the upward link.
void NcclDevices::up_last(int device, int parent) {
  std::vector<int>& out = out_[at(device)];
  std::ranges::stable_partition(out, [&](int link) { return links_[at(link)].to != parent; });
}

void NcclDevices::add_pcie(const NcclHost& host, const std::vector<int>& members) {
  first_cpu_ = static_cast<int>(kinds_.size());
  cpus_ = std::max(1, host.sockets);
  for (int i = 0; i < cpus_; ++i) add(Device::kCpu);
  const int slot = mega(planned_pcie(host.pcie));
  std::vector<int> points;
  for (int i = 0; i < host.pcie_switches; ++i) {
    points.push_back(add(Device::kPciSwitch));
    connect(points.back(), first_cpu_ + host.socket_of(i), Wire::kPci, slot);
  }
  const auto parent = [&](int point) { return host.pcie_switches > 0 ? points[at(point)] : first_cpu_ + point; };
  for (int gpu = 0; gpu < gpus_; ++gpu) {
    const int up = parent(host.gpu_at[at(members[at(gpu)])]);
    if (host.by_c2c()) {  // the narrow PCIe port of such a GPU is never better
      connect(gpu, up, Wire::kC2c, mega(host.gpu_slot));
    } else {
      connect(gpu, up, Wire::kPci, mega(planned_pcie(host.gpu_slot)));
    }
  }
  for (int index = 0; index < nets_; ++index) {
    const int nic = add(Device::kNic);
    const int up = parent(host.nic_at[at(index)]);
    connect(nic, up, Wire::kPci, slot);
    connect(nic, gpus_ + index, Wire::kNet, net_rate_);
    up_last(nic, up);
  }
  for (int i = 0; i < host.pcie_switches; ++i) up_last(points[at(i)], first_cpu_ + host.socket_of(i));
}

void NcclDevices::add_nvlink(const NcclHost& host, const std::vector<int>& members, double share) {
  if (host.links == NcclHost::Links::kSwitch) {
    switch_ = add(Device::kSwitch);
    for (int gpu = 0; gpu < gpus_; ++gpu) connect(gpu, switch_, Wire::kNvlink, mega(host.nvlink.count() / 1e9 * share));
  }
  for (const NcclHost::Lanes& lanes : host.lanes) {
    const auto a = std::ranges::find(members, lanes.a) - members.begin();
    const auto b = std::ranges::find(members, lanes.b) - members.begin();
    if (a >= gpus_ || b >= gpus_) continue;
    connect(static_cast<int>(a), static_cast<int>(b), Wire::kNvlink, mega(lanes.bandwidth.count() / 1e9 * share));
  }
}

}  // namespace ringwright::collectives
