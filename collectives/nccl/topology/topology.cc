#include "collectives/nccl/topology/topology.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>
#include <utility>

#include "core/base/index.h"

namespace ringwright::collectives {
namespace {

constexpr int kLocalRate = 5'000'000;  // LOC_BW
constexpr int kPathKinds = static_cast<int>(NcclPath::kNone) + 1;

// The bits of a GPU's number in reverse, so that neighbours get ports of different switches.
int mirrored(int value, int power) {
  int result = 0;
  for (int bit = 1, mirror = power >> 1; bit < power; bit <<= 1, mirror >>= 1) {
    if ((value & bit) != 0) result |= mirror;
  }
  return result;
}

}  // namespace

NcclTopology::NcclTopology(const NcclHost& host, std::vector<int> members, const NcclTables& tables, bool network)
    : host_(host),
      members_(std::move(members)),
      c2c_paths_(tables.paths.c2c),
      crossing_gain_(tables.search.crossing_gain),
      devices_(host, members_, tables, network),
      routes_(at(devices_.count()) * at(devices_.count())) {
  for (int device = 0; device < devices_.count(); ++device) {
    if (kind(device) != Device::kPciSwitch && kind(device) != Device::kNic) find_routes_to(device);
  }
  keep_from_peers();
  if (!host.gpudirect) keep_from_nets();
  if (c2c_paths_) find_c2c_routes();
  if (host.pxn) find_routes_by_peers();
  list_nets();
}

const NcclTopology::Route& NcclTopology::route(int from, int to) const {
  return routes_[at(from) * at(devices_.count()) + at(to)];
}

NcclPath NcclTopology::path_over(const Link& link, const Route& rest) const {
  NcclPath path = NcclPath::kLocal;
  switch (link.wire) {
    case Wire::kNvlink: path = NcclPath::kNvlink; break;
    case Wire::kC2c: path = c2c_paths_ ? NcclPath::kC2c : NcclPath::kNvlink; break;
    case Wire::kPci: path = NcclPath::kPix; break;
    case Wire::kSocket: path = NcclPath::kSys; break;
    case Wire::kNet: path = NcclPath::kLocal; break;
  }
  const Device near = kind(link.from);
  if (near == Device::kPciSwitch && kind(link.to) == Device::kPciSwitch) path = NcclPath::kPxb;
  if (link.wire == Wire::kPci && (near == Device::kCpu || kind(link.to) == Device::kCpu)) path = NcclPath::kPhb;
  const bool by_gpu = near == Device::kGpu && rest.hops() > 0;
  if (by_gpu && path == NcclPath::kNvlink && rest.path == NcclPath::kNvlink) path = NcclPath::kNvlinkByGpu;
  return std::max(rest.path, path);
}

// Breadth first: the fastest of the paths with the fewest hops, through at most one GPU.
void NcclTopology::find_routes_to(int base) {
  const auto to_base = [&](int from) -> Route& { return routes_[at(from) * at(devices_.count()) + at(base)]; };
  to_base(base) = {.links = {}, .rate = kLocalRate, .path = NcclPath::kLocal};
  std::vector<int> reached = {base};
  while (!reached.empty()) {
    std::vector<int> next;
    for (const int node : reached) {
      for (const int index : devices_.links_of(node)) {
        const Link& link = links()[at(index)];
        const Route& rest = to_base(node);
        const bool by_gpu = node != base && kind(node) == Device::kGpu;
        if (by_gpu && (link.wire != Wire::kNvlink || kind(link.to) != Device::kGpu || rest.hops() > 1)) continue;
        Route& known = to_base(link.to);
        const int rate = std::min(rest.rate, link.rate);
        if ((known.rate != 0 && known.hops() <= rest.hops()) || known.rate >= rate) continue;
        known.rate = rate;
        known.path = path_over(link, rest);
        known.links.clear();
        known.links.push_back(link.back);
        for (const int further : rest.links) known.links.push_back(further);
        if (std::ranges::find(next, link.to) == next.end()) next.push_back(link.to);
      }
    }
    reached = std::move(next);
  }
}

void NcclTopology::lead_through(int from, int by, int to) {
  const Route& first = route(from, by);
  const Route& second = route(by, to);
  Route joined{
      .links = first.links, .rate = std::min(first.rate, second.rate), .path = std::max(first.path, second.path)};
  for (const int link : second.links) joined.links.push_back(link);
  if (kind(by) == Device::kGpu) joined.path = NcclPath::kPxn;
  routes_[at(from) * at(devices_.count()) + at(to)] = std::move(joined);
}

int NcclTopology::cpu_of(int gpu) const {
  const int first = devices_.first_cpu();
  int nearest = first;
  for (int cpu = first; cpu < first + devices_.cpus(); ++cpu) {
    if (route(gpu, cpu).hops() < route(gpu, nearest).hops()) nearest = cpu;
  }
  return nearest;
}

// GPUs without peer access go through the host memory next to the receiver.
void NcclTopology::keep_from_peers() {
  const bool any = host_.processor == Processor::kAmd && gpus() <= 2;
  const NcclPath most = any ? NcclPath::kSys : NcclPath::kPxb;
  for (int to = 0; to < gpus(); ++to) {
    for (int from = 0; from < gpus(); ++from) {
      if (from != to && route(from, to).path > most) lead_through(from, cpu_of(to), to);
    }
  }
}

// NICs without access to GPU memory use the host memory next to the GPU (ncclTopoComputePaths of src/graph/paths.cc):
// such paths pass the CPU, which also rules out LL128.
void NcclTopology::keep_from_nets() {
  for (int gpu = 0; gpu < gpus(); ++gpu) {
    for (int port = net(0); port < net(nets()); ++port) {
      lead_through(port, cpu_of(gpu), gpu);
      lead_through(gpu, cpu_of(gpu), port);
    }
  }
}

void NcclTopology::find_c2c_routes() {
  for (int gpu = 0; gpu < gpus(); ++gpu) {
    for (int port = net(0); port < net(nets()); ++port) {
      const int cpu = cpu_of(gpu);
      if (route(gpu, cpu).path != NcclPath::kC2c || route(port, cpu).path != NcclPath::kPhb) continue;
      for (const auto& [from, to] : {std::pair(gpu, port), std::pair(port, gpu)}) {
        NcclPath& path = routes_[at(from) * at(devices_.count()) + at(to)].path;
        path = std::min(path, NcclPath::kP2c);
      }
    }
  }
}

// PXN: to a NIC through the GPU next to it, where that is faster or avoids the CPU. Only towards the network.
void NcclTopology::find_routes_by_peers() {
  const NcclPath longest = c2c_paths_ ? NcclPath::kP2c : NcclPath::kPxb;
  const NcclPath direct = c2c_paths_ ? NcclPath::kPxn : NcclPath::kPxb;
  for (int index = 0; index < nets(); ++index) {
    const std::vector<int> near = nearest(net(index), 0, gpus());  // routes from the NIC stay
    int peer = find_gpu_of(index);
    for (int gpu = 0; gpu < gpus(); ++gpu) {
      if (peer < 0 || peer == gpu) continue;
      const Route& own = route(gpu, net(index));
      const Route& theirs = route(peer, net(index));
      if (theirs.path > longest || route(peer, gpu).path > NcclPath::kNvlink) continue;
      if (theirs.rate <= own.rate && own.path <= direct) continue;
      lead_through(gpu, peer, net(index));
      // The GPU next to the NIC is one of these, by their own routes to NICs.
      if (std::ranges::find(near, gpu) != near.end()) peer = find_gpu_of(index);
    }
  }
}

int NcclTopology::gpu_slot(int gpu) const {
  for (const int link : devices_.links_of(gpu)) {
    if (links()[at(link)].wire == Wire::kPci) return links()[at(link)].rate;
  }
  return -1;
}

int NcclTopology::fastest() const {
  if (nets() == 0 && gpus() == 1) return kLocalRate;
  int result = 0;
  for (int gpu = 0; gpu < gpus(); ++gpu) {
    const int first = nets() > 0 ? net(0) : 0;
    for (int to = first; to < first + (nets() > 0 ? nets() : gpus()); ++to) {
      if (route(gpu, to).hops() > 0) result = std::max(result, route(gpu, to).rate);
    }
  }
  return result;
}

// NVLink-C2C was NVLink until it became a separate link type; then it is the GPU's link to the host, like its slot.
int NcclTopology::total() const {
  if (nets() == 0 && gpus() == 1) return kLocalRate;
  int result = 0;
  for (int gpu = 0; gpu < gpus(); ++gpu) {
    int nvlink = 0;
    int slot = 0;
    for (const int link : devices_.links_of(gpu)) {
      const Wire wire = links()[at(link)].wire;
      (wire == Wire::kNvlink || (wire == Wire::kC2c && !c2c_paths_) ? nvlink : slot) += links()[at(link)].rate;
    }
    result = std::max({result, nvlink, slot});
  }
  return result;
}

// Devices of one kind with the fastest path, and of those the nearest.
std::vector<int> NcclTopology::nearest(int from, int first, int count) const {
  std::vector<int> found;
  int rate = 0;
  NcclPath path = NcclPath::kNone;
  for (int to = first; to < first + count; ++to) {
    const Route& candidate = route(from, to);
    if (candidate.rate > rate || (candidate.rate == rate && candidate.path < path)) {
      rate = candidate.rate;
      path = candidate.path;
      found.clear();
    }
    if (candidate.rate == rate && candidate.path == path) found.push_back(to - first);
  }
  return found;
}

std::vector<int> NcclTopology::nets_of(int gpu) const {
  const std::vector<int> ports = nearest(gpu, net(0), nets());
  if (ports.empty()) return {};
  const int sharing = static_cast<int>(nearest(net(ports.front()), 0, gpus()).size());
  const int count = static_cast<int>(ports.size());
  int first = members_[at(gpu)];
  if (std::has_single_bit(static_cast<unsigned>(count))) first = mirrored(first, count);
  const int own = (count + sharing - 1) / std::max(1, sharing);
  std::vector<int> found;
  for (int channel = 0; channel < nets(); ++channel) found.push_back(ports[at((first + channel % own) % count)]);
  return found;
}

int NcclTopology::find_gpu_of(int index) const {
  std::vector<std::pair<int, std::vector<int>>> candidates;
  for (const int gpu : nearest(net(index), 0, gpus())) candidates.emplace_back(gpu, nets_of(gpu));
  for (int channel = 0; channel < nets(); ++channel) {
    for (const auto& [gpu, ports] : candidates) {
      if (!ports.empty() && ports[at(channel)] == index) return gpu;
    }
  }
  return -1;
}

void NcclTopology::list_nets() {
  for (int index = 0; index < nets(); ++index) gpu_of_net_.push_back(find_gpu_of(index));
  near_.resize(at((gpus() + 1) * kPathKinds));
  for (int asking = -1; asking < gpus(); ++asking) {
    std::vector<int> list;
    const auto append = [&](int port) {
      if (port >= 0 && std::ranges::find(list, port) == list.end()) list.push_back(port);
    };
    const int first = std::max(asking, 0);
    const int last = asking < 0 ? gpus() : asking + 1;
    for (int gpu = first; gpu < last; ++gpu) {
      for (const int port : nets_of(gpu)) append(port);
    }
    for (int path = 0; path < kPathKinds; ++path) {
      for (int gpu = first; gpu < last; ++gpu) {
        for (int port = 0; port < nets(); ++port) {
          if (route(gpu, net(port)).path == static_cast<NcclPath>(path)) append(port);
        }
      }
      near_[at((asking + 1) * kPathKinds + path)] = list;
    }
  }
}

const std::vector<int>& NcclTopology::nets_near(int gpu, NcclPath worst) const {
  return near_[at((gpu + 1) * kPathKinds + static_cast<int>(worst))];
}

}  // namespace ringwright::collectives
