// How many rings and trees the links of one host carry for some of its GPUs, at NCCL's planning rates, without their
// paths. For RCCL, which uses predefined rings over all lanes on known hosts instead of a search.
#pragma once

#include <vector>

#include "collectives/nccl/search/graph.h"
#include "collectives/nccl/tables/tables.h"
#include "collectives/nccl/topology/hardware.h"

namespace ringwright::collectives {

class HostCapacity {
 public:
  // `members`: positions of the communicator's GPUs in the host, ascending.
  HostCapacity(const NcclHost& host, std::vector<int> members, const NcclTables& tables);

  [[nodiscard]] int size() const { return static_cast<int>(members_.size()); }
  // Rate of the fastest path that a channel could take, and of all links of one GPU: bounds of the search.
  [[nodiscard]] double fastest(bool several_hosts) const;
  [[nodiscard]] double total() const { return total_; }
  // Rings that fit at this bandwidth (GB/s) each; over several hosts they enter and leave through NICs.
  [[nodiscard]] int rings_inside(double speed) const;
  [[nodiscard]] int rings_between(double inside, double between) const;
  [[nodiscard]] NcclPath inside() const { return inside_; }
  [[nodiscard]] NcclPath between() const { return between_; }
  [[nodiscard]] bool has_nvlink() const { return gpu_nvlink_ > 0.0; }
  [[nodiscard]] bool switched() const { return switched_; }
  // The NICs that members reach by the path `between`.
  [[nodiscard]] int near_nics() const { return near_nics_; }

 private:
  void find_nvlink(const NcclHost& host, double share);
  void find_pcie(const NcclHost& host);
  void find_nics(const NcclHost& host);
  [[nodiscard]] NcclPath path_to_nic(const NcclHost& host, int gpu, int nic) const;
  [[nodiscard]] int mesh_rings(double speed) const;
  [[nodiscard]] double pair(int a, int b) const;

  std::vector<int> members_;
  bool switched_ = false;
  std::vector<double> pairs_;  // GB/s between members; empty without a mesh
  double gpu_nvlink_ = 0.0;    // of the member with the least; 0: GPUs communicate over PCIe
  double slot_ = 0.0;          // of a GPU
  double between_gpus_ = 0.0;  // over PCIe: of all rings together
  double total_ = 0.0;
  double nic_rate_ = 0.0;      // of one NIC, or of its slot
  int near_nics_ = 0;
  NcclPath inside_ = NcclPath::kNvlink;
  NcclPath between_ = NcclPath::kPix;
};

// How many rings through all of `size` members fit when each takes one unit of every pair it uses. `units` by
// from * size + to. A search that gives up after some thousand steps, as NCCL's does.
[[nodiscard]] int count_rings(int size, std::vector<int> units);

}  // namespace ringwright::collectives
