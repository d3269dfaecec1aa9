#include "network_models/host/host_nics.h"

#include <algorithm>

#include "core/base/check.h"

namespace ringwright::network_models {

HostNics::HostNics(const Host& host, const HostGraph& graph, const HostPaths& paths)
    : gpus_(graph.numbers().gpus), nics_(graph.numbers().nics), owner_of_(nics_, kNowhere) {
  for (std::uint32_t gpu = 0; gpu < gpus_ && nics_ > 0; ++gpu) {
    const auto nic = static_cast<std::uint32_t>(host.nic_of(static_cast<int>(gpu)));
    CHECK(paths.up(gpu, nic).count > 0, "the reader of hosts accepts no GPU without a NIC");
    nic_of_.push_back(nic);
    if (owner_of_[nic] == kNowhere) owner_of_[nic] = gpu;
  }
  add_sets({.host = host, .graph = graph, .paths = paths});
}

void HostNics::add_sets(const Layout& layout) {
  const Host& host = layout.host;
  set_of_host_.assign(host.nic_sets.of_host.begin(), host.nic_sets.of_host.end());
  sets_.resize(std::max<std::size_t>(1, host.nic_sets.missing.size()));
  for (std::size_t number = 0; number < sets_.size(); ++number) {
    NicSet& set = sets_[number];
    set.has.assign(nics_, true);
    set.nic_of = nic_of_;
    for (std::uint32_t gpu = 0; gpu < gpus_; ++gpu) set.relay_of.push_back(gpu);
    if (number == 0) continue;
    for (const int nic : host.nic_sets.missing[number]) {
      if (nic < host.nic.count) set.has[static_cast<std::uint32_t>(nic)] = false;
    }
    for (std::uint32_t gpu = 0; gpu < gpus_; ++gpu) {
      if (!set.has[set.nic_of[gpu]]) take_nearest(layout, gpu, set);
    }
  }
}

// Of those with the fewest links on the path, GPUs take different ones. Where that path passes a CPU and NVLink leads
// to a GPU whose path does not, bytes leave over that GPU (PXN; ncclTopoComputePaths of NCCL's src/graph/paths.cc).
// They enter over PCIe in any case.
void HostNics::take_nearest(const Layout& layout, std::uint32_t gpu, NicSet& set) const {
  const auto& [host, graph, paths] = layout;
  std::vector<std::uint32_t> nearest;
  std::uint32_t fewest = std::numeric_limits<std::uint32_t>::max();
  for (std::uint32_t nic = 0; nic < nics_; ++nic) {
    const std::uint32_t links = paths.up(gpu, nic).count;
    if (!set.has[nic] || links == 0 || links > fewest) continue;
    if (links < fewest) nearest.clear();
    fewest = links;
    nearest.push_back(nic);
  }
  if (nearest.empty()) return;  // the reader of faults accepts no such host among several
  const std::uint32_t nic = nearest[gpu % nearest.size()];
  set.nic_of[gpu] = nic;
  const std::uint32_t owner = owner_of_[nic];
  if (!host.gpudirect || owner == kNowhere || !paths.passes_socket(graph, paths.up(gpu, nic))) return;
  const bool by_nvlink = paths.begins_with_nvlink(graph, paths.between(gpu, owner));
  if (by_nvlink && !paths.passes_socket(graph, paths.up(owner, nic))) set.relay_of[gpu] = owner;
}

NicEnds HostNics::ends(const RouteQuery& query, const HostEnds& gpus, const OfKind& from, const OfKind& to) {
  const NicSet& here = from.nics.set_of(gpus.from_host);
  const NicSet& there = to.nics.set_of(gpus.to_host);
  NicEnds nics{
      .relay = here.relay_of[gpus.from_gpu], .out = here.nic_of[gpus.from_gpu], .in = there.nic_of[gpus.to_gpu]};
  const MessageNics& asked = query.nics;
  const auto in = static_cast<std::uint32_t>(asked.in);
  if (asked.in >= 0 && in < to.nics.nics_ && there.has[in] && to.paths.down(gpus.to_gpu, in).count > 0) nics.in = in;
  const auto out = static_cast<std::uint32_t>(asked.out);
  if (asked.out >= 0 && out < from.nics.nics_ && here.has[out]) {
    const std::uint32_t relay = asked.relay >= 0 ? static_cast<std::uint32_t>(asked.relay) : gpus.from_gpu;
    if (relay >= from.nics.gpus_ || from.paths.up(relay, out).count == 0) return nics;
    nics.relay = relay;
    nics.out = out;
  } else if (query.route_kind == RouteKind::kPxn && nics.out != nics.in && from.nics.has(gpus.from_host, nics.in)) {
    nics.relay = from.nics.gpu_next_to({.nic = nics.in, .wanted = gpus.to_gpu, .from = gpus.from_gpu});
    nics.out = nics.in;
  }
  return nics;
}

std::uint32_t HostNics::gpu_next_to(const NicNeighbor& which) const {
  if (nic_of_[which.wanted] == which.nic) return which.wanted;
  return owner_of_[which.nic] == kNowhere ? which.from : owner_of_[which.nic];
}

}  // namespace ringwright::network_models
