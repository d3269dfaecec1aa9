#include "collectives/nccl/topology/topology.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "core/base/index.h"

namespace ringwright::collectives {
namespace {

constexpr int kLocalRate = 5'000'000;  // LOC_BW
constexpr int kPathKinds = static_cast<int>(NcclPath::kNone) + 1;

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
    case Processor::kAmd: return 16'000;
    case Processor::kPower: return 32'000;
    case Processor::kArm:
    case Processor::kOther: return 6'000;
  }
  return 6'000;
}

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
    : host_(host), members_(std::move(members)), c2c_paths_(tables.paths.c2c) {
  for (std::size_t i = 0; i < members_.size(); ++i) add(Device::kGpu);
  gpus_ = static_cast<int>(members_.size());
  for (int i = 0; network && i < host.nics; ++i) add(Device::kNet);
  nets_ = network ? host.nics : 0;
  net_rate_ = mega(host.nic);
  add_pcie();
  add_nvlink(tables.search.nvlink_share[index_of(generation_of(host.compute_capability))]);
  const int between = socket_rate(host, tables);
  for (int a = 0; a < cpus_; ++a) {
    for (int b = a + 1; b < cpus_; ++b) connect(first_cpu_ + a, first_cpu_ + b, Wire::kSocket, between);
  }
  routes_.resize(kinds_.size() * kinds_.size());
  for (int device = 0; device < static_cast<int>(kinds_.size()); ++device) {
    if (kind(device) != Device::kPciSwitch && kind(device) != Device::kNic) find_routes_to(device);
  }
  keep_from_peers();
  if (!host.gpudirect) keep_from_nets();
  if (c2c_paths_) find_c2c_routes();
  if (host.pxn) find_routes_by_peers();
  list_nets();
}

int NcclTopology::add(Device kind) {
  kinds_.push_back(kind);
  out_.emplace_back();
  return static_cast<int>(kinds_.size()) - 1;
}

// Links of a device are sorted fastest first; ties by age.
void NcclTopology::connect(int a, int b, Wire wire, int rate) {
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
void NcclTopology::up_last(int device, int parent) {
  std::vector<int>& out = out_[at(device)];
  std::ranges::stable_partition(out, [&](int link) { return links_[at(link)].to != parent; });
}

void NcclTopology::add_pcie() {
  first_cpu_ = static_cast<int>(kinds_.size());
  cpus_ = std::max(1, host_.sockets);
  for (int i = 0; i < cpus_; ++i) add(Device::kCpu);
  const int slot = mega(planned_pcie(host_.pcie));
  std::vector<int> points;
  for (int i = 0; i < host_.pcie_switches; ++i) {
    points.push_back(add(Device::kPciSwitch));
    connect(points.back(), first_cpu_ + host_.socket_of(i), Wire::kPci, slot);
  }
  const auto parent = [&](int point) { return host_.pcie_switches > 0 ? points[at(point)] : first_cpu_ + point; };
  for (int gpu = 0; gpu < gpus_; ++gpu) {
    const int up = parent(host_.gpu_at[at(members_[at(gpu)])]);
    if (host_.by_c2c()) {  // the narrow PCIe port of such a GPU is never better
      connect(gpu, up, Wire::kC2c, mega(host_.gpu_slot));
    } else {
      connect(gpu, up, Wire::kPci, mega(planned_pcie(host_.gpu_slot)));
    }
  }
  for (int index = 0; index < nets_; ++index) {
    const int nic = add(Device::kNic);
    const int up = parent(host_.nic_at[at(index)]);
    connect(nic, up, Wire::kPci, slot);
    connect(nic, net(index), Wire::kNet, net_rate_);
    up_last(nic, up);
  }
  for (int i = 0; i < host_.pcie_switches; ++i) up_last(points[at(i)], first_cpu_ + host_.socket_of(i));
}

void NcclTopology::add_nvlink(double share) {
  if (host_.links == NcclHost::Links::kSwitch) {
    switch_ = add(Device::kSwitch);
    for (int gpu = 0; gpu < gpus_; ++gpu)
      connect(gpu, switch_, Wire::kNvlink, mega(host_.nvlink.count() / 1e9 * share));
  }
  for (const NcclHost::Lanes& lanes : host_.lanes) {
    const auto a = std::ranges::find(members_, lanes.a) - members_.begin();
    const auto b = std::ranges::find(members_, lanes.b) - members_.begin();
    if (a >= gpus_ || b >= gpus_) continue;
    connect(static_cast<int>(a), static_cast<int>(b), Wire::kNvlink, mega(lanes.bandwidth.count() / 1e9 * share));
  }
}

const NcclTopology::Route& NcclTopology::route(int from, int to) const {
  return routes_[at(from) * kinds_.size() + at(to)];
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
  const auto to_base = [&](int from) -> Route& { return routes_[at(from) * kinds_.size() + at(base)]; };
  to_base(base) = {.links = {}, .rate = kLocalRate, .path = NcclPath::kLocal};
  std::vector<int> reached = {base};
  while (!reached.empty()) {
    std::vector<int> next;
    for (const int node : reached) {
      for (const int index : out_[at(node)]) {
        const Link& link = links_[at(index)];
        const Route& rest = to_base(node);
        const bool by_gpu = node != base && kind(node) == Device::kGpu;
        if (by_gpu && (link.wire != Wire::kNvlink || kind(link.to) != Device::kGpu || rest.hops() > 1)) continue;
        Route& known = to_base(link.to);
        const int rate = std::min(rest.rate, link.rate);
        if ((known.rate != 0 && known.hops() <= rest.hops()) || known.rate >= rate) continue;
        Route found{.links = {link.back}, .rate = rate, .path = path_over(link, rest)};
        found.links.insert(found.links.end(), rest.links.begin(), rest.links.end());
        known = std::move(found);
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
  joined.links.insert(joined.links.end(), second.links.begin(), second.links.end());
  if (kind(by) == Device::kGpu) joined.path = NcclPath::kPxn;
  routes_[at(from) * kinds_.size() + at(to)] = std::move(joined);
}

int NcclTopology::cpu_of(int gpu) const {
  int nearest = first_cpu_;
  for (int cpu = first_cpu_; cpu < first_cpu_ + cpus_; ++cpu) {
    if (route(gpu, cpu).hops() < route(gpu, nearest).hops()) nearest = cpu;
  }
  return nearest;
}

// GPUs without peer access go through the host memory next to the receiver.
void NcclTopology::keep_from_peers() {
  const bool any = host_.processor == Processor::kAmd && gpus_ <= 2;
  const NcclPath most = any ? NcclPath::kSys : NcclPath::kPxb;
  for (int to = 0; to < gpus_; ++to) {
    for (int from = 0; from < gpus_; ++from) {
      if (from != to && route(from, to).path > most) lead_through(from, cpu_of(to), to);
    }
  }
}

// NICs without access to GPU memory use the host memory next to the GPU (ncclTopoComputePaths of src/graph/paths.cc):
// such paths pass the CPU, which also rules out LL128.
void NcclTopology::keep_from_nets() {
  for (int gpu = 0; gpu < gpus_; ++gpu) {
    for (int port = net(0); port < net(nets_); ++port) {
      lead_through(port, cpu_of(gpu), gpu);
      lead_through(gpu, cpu_of(gpu), port);
    }
  }
}

void NcclTopology::find_c2c_routes() {
  for (int gpu = 0; gpu < gpus_; ++gpu) {
    for (int port = net(0); port < net(nets_); ++port) {
      const int cpu = cpu_of(gpu);
      if (route(gpu, cpu).path != NcclPath::kC2c || route(port, cpu).path != NcclPath::kPhb) continue;
      for (const auto& [from, to] : {std::pair(gpu, port), std::pair(port, gpu)}) {
        NcclPath& path = routes_[at(from) * kinds_.size() + at(to)].path;
        path = std::min(path, NcclPath::kP2c);
      }
    }
  }
}

// PXN: to a NIC through the GPU next to it, where that is faster or avoids the CPU. Only towards the network.
void NcclTopology::find_routes_by_peers() {
  const NcclPath beside = c2c_paths_ ? NcclPath::kP2c : NcclPath::kPxb;
  const NcclPath direct = c2c_paths_ ? NcclPath::kPxn : NcclPath::kPxb;
  for (int index = 0; index < nets_; ++index) {
    for (int gpu = 0; gpu < gpus_; ++gpu) {
      const int peer = gpu_of_net(index);
      if (peer < 0 || peer == gpu) continue;
      const Route& own = route(gpu, net(index));
      const Route& theirs = route(peer, net(index));
      if (theirs.path > beside || route(peer, gpu).path > NcclPath::kNvlink) continue;
      if (theirs.rate > own.rate || own.path > direct) lead_through(gpu, peer, net(index));
    }
  }
}

int NcclTopology::gpu_slot(int gpu) const {
  for (const int link : out_[at(gpu)]) {
    if (links_[at(link)].wire == Wire::kPci) return links_[at(link)].rate;
  }
  return -1;
}

int NcclTopology::fastest() const {
  if (nets_ == 0 && gpus_ == 1) return kLocalRate;
  int result = 0;
  for (int gpu = 0; gpu < gpus_; ++gpu) {
    const int first = nets_ > 0 ? net(0) : 0;
    for (int to = first; to < first + (nets_ > 0 ? nets_ : gpus_); ++to) {
      if (route(gpu, to).hops() > 0) result = std::max(result, route(gpu, to).rate);
    }
  }
  return result;
}

// NVLink-C2C was NVLink until it became a separate link type; then it is the GPU's link to the host, like its slot.
int NcclTopology::total() const {
  if (nets_ == 0 && gpus_ == 1) return kLocalRate;
  int result = 0;
  for (int gpu = 0; gpu < gpus_; ++gpu) {
    int nvlink = 0;
    int slot = 0;
    for (const int link : out_[at(gpu)]) {
      const Wire wire = links_[at(link)].wire;
      (wire == Wire::kNvlink || (wire == Wire::kC2c && !c2c_paths_) ? nvlink : slot) += links_[at(link)].rate;
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

int NcclTopology::net_of(int gpu, int channel) const {
  const std::vector<int> ports = nearest(gpu, net(0), nets_);
  if (ports.empty()) return -1;
  const int sharing = static_cast<int>(nearest(net(ports.front()), 0, gpus_).size());
  const int count = static_cast<int>(ports.size());
  int index = members_[at(gpu)];
  if (std::has_single_bit(static_cast<unsigned>(count))) index = mirrored(index, count);
  index += channel % ((count + sharing - 1) / std::max(1, sharing));
  return ports[at(index % count)];
}

int NcclTopology::gpu_of_net(int index) const {
  const std::vector<int> beside = nearest(net(index), 0, gpus_);
  for (int channel = 0; channel < nets_; ++channel) {
    for (const int gpu : beside) {
      if (net_of(gpu, channel) == index) return gpu;
    }
  }
  return -1;
}

void NcclTopology::list_nets() {
  near_.resize(at((gpus_ + 1) * kPathKinds));
  for (int asking = -1; asking < gpus_; ++asking) {
    std::vector<int> list;
    const auto append = [&](int port) {
      if (port >= 0 && std::ranges::find(list, port) == list.end()) list.push_back(port);
    };
    const int first = std::max(asking, 0);
    const int last = asking < 0 ? gpus_ : asking + 1;
    for (int gpu = first; gpu < last; ++gpu) {
      for (int channel = 0; channel < nets_; ++channel) append(net_of(gpu, channel));
    }
    for (int path = 0; path < kPathKinds; ++path) {
      for (int gpu = first; gpu < last; ++gpu) {
        for (int port = 0; port < nets_; ++port) {
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
