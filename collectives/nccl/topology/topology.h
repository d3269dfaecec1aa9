// A host as seen by NCCL's search: its devices, and the path from each of them to each other (graph/paths.cc).
#pragma once

#include <cstdint>
#include <vector>

#include "collectives/nccl/tables/tables.h"
#include "collectives/nccl/topology/devices.h"
#include "collectives/nccl/topology/hardware.h"
#include "core/base/inline_vector.h"

namespace ringwright::collectives {

// How near two devices are, best first, as NCCL orders its paths.
enum class NcclPath : std::uint8_t {
  kLocal,
  kNvlink,
  kNvlinkByGpu,  // NVB: through one GPU between
  kC2c,
  kPix,
  kPxb,
  kP2c,
  kPxn,
  kPhb,
  kSys,
  kNone,
};

class NcclTopology {
 public:
  using Device = NcclDevices::Device;
  using Wire = NcclDevices::Wire;
  using Link = NcclDevices::Link;
  struct Route {
    InlineVector<int, 8> links;  // a path of a host is no longer, but for detours
    int rate = 0;
    NcclPath path = NcclPath::kNone;
    [[nodiscard]] int hops() const { return static_cast<int>(links.size()); }
  };

  // `members`: positions of the communicator's GPUs in the host, ascending. Without `network` there are no NICs.
  NcclTopology(const NcclHost& host, std::vector<int> members, const NcclTables& tables, bool network);

  [[nodiscard]] int gpus() const { return devices_.gpus(); }
  [[nodiscard]] int nets() const { return devices_.nets(); }
  [[nodiscard]] bool has_switch() const { return devices_.nvswitch() >= 0; }
  [[nodiscard]] const std::vector<int>& members() const { return members_; }
  // Devices are numbered GPUs first, then ports of the network.
  [[nodiscard]] int net(int index) const { return devices_.gpus() + index; }
  [[nodiscard]] int nvswitch() const { return devices_.nvswitch(); }
  [[nodiscard]] Device kind(int device) const { return devices_.kind(device); }
  [[nodiscard]] const std::vector<Link>& links() const { return devices_.links(); }
  [[nodiscard]] const Route& route(int from, int to) const;
  [[nodiscard]] int net_rate() const { return devices_.net_rate(); }
  [[nodiscard]] int gpu_slot(int gpu) const;  // of the PCIe slot; -1 without one

  [[nodiscard]] const NcclHost& host() const { return host_; }
  // By which channels that cross NICs must be faster than those that do not.
  [[nodiscard]] double crossing_gain() const { return crossing_gain_; }
  // Rate of the fastest path that a channel could take, and of all links of one GPU: bounds of the search.
  [[nodiscard]] int fastest() const;
  [[nodiscard]] int total() const;

  // The ports next to a GPU that NCCL assigns to its channels, as many as there are ports, and the GPU next to a port.
  // Empty, and -1: none.
  [[nodiscard]] std::vector<int> nets_of(int gpu) const;
  [[nodiscard]] int gpu_of_net(int net) const { return gpu_of_net_[static_cast<std::size_t>(net)]; }
  // Ports to try for a GPU (-1: for any), nearest first, without those beyond `worst` unless none is nearer.
  [[nodiscard]] const std::vector<int>& nets_near(int gpu, NcclPath worst) const;

 private:
  void find_routes_to(int base);
  [[nodiscard]] NcclPath path_over(const Link& link, const Route& rest) const;
  void lead_through(int from, int by, int to);
  void keep_from_peers();
  void keep_from_nets();
  void find_c2c_routes();
  void find_routes_by_peers();
  [[nodiscard]] int find_gpu_of(int net) const;
  [[nodiscard]] int cpu_of(int gpu) const;
  [[nodiscard]] std::vector<int> nearest(int from, int first, int count) const;
  void list_nets();

  NcclHost host_;
  std::vector<int> members_;
  bool c2c_paths_;
  double crossing_gain_;
  NcclDevices devices_;
  std::vector<Route> routes_;  // from * devices + to
  std::vector<int> gpu_of_net_;
  std::vector<std::vector<int>> near_;  // by (gpu + 1) and worst path
};

}  // namespace ringwright::collectives
