// A host's NICs: which of them a GPU uses, also where some hosts have fewer.
#include <algorithm>
#include <limits>

#include "network_models/host/host_block.h"

namespace ringwright::network_models {

void HostBlock::add_nic_sets(const Host& host) {
  set_of_host_.assign(host.nic_sets.of_host.begin(), host.nic_sets.of_host.end());
  sets_.resize(std::max<std::size_t>(1, host.nic_sets.missing.size()));
  for (std::size_t number = 0; number < sets_.size(); ++number) {
    NicSet& set = sets_[number];
    set.has.assign(nics_, true);
    set.nic_of = nic_of_;
    for (std::uint32_t gpu = 0; gpu < gpus_; ++gpu) set.relay_of.push_back(gpu);
    if (number == 0) continue;
    for (const int nic : host.nic_sets.missing[number]) set.has[static_cast<std::uint32_t>(nic)] = false;
    for (std::uint32_t gpu = 0; gpu < gpus_; ++gpu) {
      if (!set.has[set.nic_of[gpu]]) take_nearest_nic(host, gpu, set);
    }
  }
}

bool HostBlock::passes_socket(const LocalPath& path) const {
  for (std::uint32_t i = path.first; i < path.first + path.count; ++i) {
    if (nodes_[links_[path_links_[i]].to].kind == NodeKind::kRootComplex) return true;
  }
  return false;
}

// Of those with the fewest links on the path, GPUs take different ones. Where that path passes a CPU and NVLink leads
// to a GPU whose path does not, bytes leave over that GPU (PXN; ncclTopoComputePaths of NCCL's src/graph/paths.cc).
// They enter over PCIe in any case.
void HostBlock::take_nearest_nic(const Host& host, std::uint32_t gpu, NicSet& set) const {
  std::vector<std::uint32_t> nearest;
  std::uint32_t fewest = std::numeric_limits<std::uint32_t>::max();
  for (std::uint32_t nic = 0; nic < nics_; ++nic) {
    const std::uint32_t links = up_paths_[gpu * nics_ + nic].count;
    if (!set.has[nic] || links == 0 || links > fewest) continue;
    if (links < fewest) nearest.clear();
    fewest = links;
    nearest.push_back(nic);
  }
  if (nearest.empty()) return;  // the reader of faults accepts no such host among several
  const std::uint32_t nic = nearest[gpu % nearest.size()];
  set.nic_of[gpu] = nic;
  const std::uint32_t beside = beside_[nic];
  if (!host.gpudirect || beside == kNowhere || !passes_socket(up_paths_[gpu * nics_ + nic])) return;
  const LocalPath& over = gpu_paths_[gpu * gpus_ + beside];
  const bool by_nvlink = over.count > 0 && links_[path_links_[over.first]].scale_up;
  if (by_nvlink && !passes_socket(up_paths_[beside * nics_ + nic])) set.relay_of[gpu] = beside;
}

NicEnds HostBlock::nics(const RouteQuery& query, const HostEnds& ends) const {
  const NicSet& here = set_of(ends.from_host);
  const NicSet& there = set_of(ends.to_host);
  NicEnds nics{
      .relay = here.relay_of[ends.from_gpu], .out = here.nic_of[ends.from_gpu], .in = there.nic_of[ends.to_gpu]};
  const MessageNics& asked = query.nics;
  const auto in = static_cast<std::uint32_t>(asked.in);
  if (asked.in >= 0 && in < nics_ && there.has[in] && down_paths_[ends.to_gpu * nics_ + in].count > 0) nics.in = in;
  const auto out = static_cast<std::uint32_t>(asked.out);
  if (asked.out >= 0 && out < nics_ && here.has[out]) {
    const std::uint32_t relay = asked.relay >= 0 ? static_cast<std::uint32_t>(asked.relay) : ends.from_gpu;
    if (relay >= gpus_ || up_paths_[relay * nics_ + out].count == 0) return nics;
    nics.relay = relay;
    nics.out = out;
  } else if (query.route_kind == RouteKind::kPxn && nics.out != nics.in && here.has[nics.in]) {
    nics.relay = gpu_beside({.nic = nics.in, .wanted = ends.to_gpu, .from = ends.from_gpu});
    nics.out = nics.in;
  }
  return nics;
}

std::uint32_t HostBlock::gpu_beside(const Beside& which) const {
  if (nic_of_[which.wanted] == which.nic) return which.wanted;
  return beside_[which.nic] == kNowhere ? which.from : beside_[which.nic];
}

}  // namespace ringwright::network_models
