#include "collectives/nccl/search/capacity.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

namespace ringwright::collectives {
namespace {

// GPU to GPU through an Intel processor is charged 6/5 of its rate.
constexpr double kIntelPenalty = 6.0 / 5.0;
// NCCL rounds the remaining rate of a link to 1/1000 GB/s.
constexpr double kRounding = 1e-3;

int fit(double capacity, double speed) {
  return static_cast<int>(std::floor((capacity + kRounding) / speed));
}

// Between sockets in GB/s, by CPU vendor (topo.h), where the host sets no figure.
double socket_rate(const NcclHost& host) {
  if (host.socket.count() > 0.0) return host.socket.count() / 1e9;
  switch (host.processor) {
    case Processor::kIntel: return 10.0;
    case Processor::kAmd: return 16.0;
    case Processor::kPower: return 32.0;
    case Processor::kArm:
    case Processor::kOther: return 6.0;
  }
  return 6.0;
}

class RingSearch {
 public:
  RingSearch(int size, std::vector<int> units) : size_(size), units_(std::move(units)) {}

  int count() {
    int bound = std::numeric_limits<int>::max();
    for (int from = 0; from < size_; ++from) {
      int out = 0;
      for (int to = 0; to < size_; ++to) out += unit(from, to);
      bound = std::min(bound, out);
    }
    bound_ = std::min(bound, kNcclMaxChannels);
    ring_ = {0};
    extend(0);
    return best_;
  }

 private:
  static constexpr int kSteps = 200'000;

  int& unit(int from, int to) { return units_[static_cast<std::size_t>(from * size_ + to)]; }

  void extend(int rings) {
    if (best_ == bound_ || ++steps_ > kSteps) return;
    const int from = ring_.back();
    if (static_cast<int>(ring_.size()) == size_) {
      if (unit(from, 0) == 0) return;
      close(rings, from);
      return;
    }
    std::vector<int> next;
    for (int to = 1; to < size_; ++to) {
      if (unit(from, to) > 0 && std::find(ring_.begin(), ring_.end(), to) == ring_.end()) next.push_back(to);
    }
    // Thick bundles first, so that the remaining lanes stay even.
    std::stable_sort(next.begin(), next.end(), [&](int a, int b) { return unit(from, a) > unit(from, b); });
    for (const int to : next) {
      --unit(from, to);
      ring_.push_back(to);
      extend(rings);
      ring_.pop_back();
      ++unit(from, to);
    }
  }

  void close(int rings, int last) {
    --unit(last, 0);
    best_ = std::max(best_, rings + 1);
    const std::vector<int> done = std::exchange(ring_, {0});
    extend(rings + 1);
    ring_ = done;
    ++unit(last, 0);
  }

  int size_;
  std::vector<int> units_;
  std::vector<int> ring_;
  int bound_ = 0;
  int best_ = 0;
  int steps_ = 0;
};

}  // namespace

int count_rings(int size, std::vector<int> units) {
  if (size < 2) return 0;
  // Equal pairs: the arcs of a complete graph decompose into size - 1 rings, but not for 4 and 6 members with one unit
  // a pair (Tillson 1980; 4 members have six rings, each arc in two of them).
  std::vector<int> sorted;
  for (int from = 0; from < size; ++from) {
    for (int to = 0; to < size; ++to) {
      if (from != to) sorted.push_back(units[static_cast<std::size_t>(from * size + to)]);
    }
  }
  const auto [least, most] = std::minmax_element(sorted.begin(), sorted.end());
  const bool parts = (size != 4 || *least % 2 == 0) && (size != 6 || *least > 1);
  if (*least == *most && parts) return *least * (size - 1);
  // 4 members have six rings, and every arc lies in two of them: rings that share an arc share its units, which uses
  // all arcs up only when each takes half. An odd number loses one ring; a search would use all its steps on it.
  if (*least == *most && size == 4) return *least * 3 - 1;
  return RingSearch(size, std::move(units)).count();
}

HostCapacity::HostCapacity(const NcclHost& host, std::vector<int> members, const NcclTables& tables)
    : members_(std::move(members)) {
  slot_ = host.by_c2c() ? host.gpu_slot.count() / 1e9 : planned_pcie(host.gpu_slot);
  find_nvlink(host, tables.search.nvlink_share[index_of(generation_of(host.compute_capability))]);
  find_pcie(host);
  total_ = std::max(gpu_nvlink_, slot_);
  if (host.nics > 0) find_nics(host);
}

double HostCapacity::pair(int a, int b) const {
  return pairs_[static_cast<std::size_t>(a) * members_.size() + static_cast<std::size_t>(b)];
}

void HostCapacity::find_nvlink(const NcclHost& host, double share) {
  if (host.links == NcclHost::Links::kSwitch) {
    switched_ = true;
    gpu_nvlink_ = host.nvlink.count() / 1e9 * share;
    return;
  }
  if (host.links != NcclHost::Links::kMesh || size() < 2) return;
  pairs_.assign(members_.size() * members_.size(), 0.0);
  for (const NcclHost::Lanes& lanes : host.lanes) {
    const auto a = std::find(members_.begin(), members_.end(), lanes.a) - members_.begin();
    const auto b = std::find(members_.begin(), members_.end(), lanes.b) - members_.begin();
    if (a >= size() || b >= size()) continue;
    const double rate = lanes.bandwidth.count() / 1e9 * share;
    pairs_[static_cast<std::size_t>(a) * members_.size() + static_cast<std::size_t>(b)] += rate;
    pairs_[static_cast<std::size_t>(b) * members_.size() + static_cast<std::size_t>(a)] += rate;
  }
  for (int a = 0; a < size(); ++a) {
    double out = 0.0;
    for (int b = 0; b < size(); ++b) out += pair(a, b);
    gpu_nvlink_ = a == 0 ? out : std::min(gpu_nvlink_, out);
  }
  // No ring over the lanes between these members: they communicate over PCIe.
  if (mesh_rings(1.0) == 0) {
    pairs_.clear();
    gpu_nvlink_ = 0.0;
  }
}

void HostCapacity::find_pcie(const NcclHost& host) {
  std::set<int> points;
  std::set<int> sockets;
  for (const int gpu : members_) {
    const int point = host.gpu_at[static_cast<std::size_t>(gpu)];
    points.insert(point);
    sockets.insert(host.socket_of(point));
  }
  between_gpus_ = slot_;
  const bool through_processor = points.size() > 1 || host.pcie_switches == 0;
  if (through_processor && host.processor == Processor::kIntel && !host.by_c2c()) between_gpus_ /= kIntelPenalty;
  if (sockets.size() > 1) between_gpus_ = std::min(between_gpus_, socket_rate(host));
  if (gpu_nvlink_ > 0.0) return;
  inside_ = sockets.size() > 1 ? NcclPath::kSys : through_processor ? NcclPath::kPhb : NcclPath::kPix;
}

NcclPath HostCapacity::path_to_nic(const NcclHost& host, int gpu, int nic) const {
  const int gpu_point = host.gpu_at[static_cast<std::size_t>(gpu)];
  const int nic_point = host.nic_at[static_cast<std::size_t>(nic)];
  if (host.pcie_switches > 0 && gpu_point == nic_point) return NcclPath::kPix;
  if (host.socket_of(gpu_point) != host.socket_of(nic_point)) return NcclPath::kSys;
  return NcclPath::kPhb;
}

// A ring enters a host at one GPU and leaves it at another, both next to the same NIC. Where only one GPU is next to a
// NIC, the other end goes through that GPU (PXN) if NVLink connects them.
void HostCapacity::find_nics(const NcclHost& host) {
  nic_rate_ = std::min(host.nic.count() / 1e9, planned_pcie(host.pcie));
  const int ends = std::min(2, size());
  between_ = NcclPath::kSys;
  for (int nic = 0; nic < host.nics; ++nic) {
    std::vector<NcclPath> paths;
    for (const int gpu : members_) {
      paths.push_back(path_to_nic(host, gpu, nic));
    }
    std::sort(paths.begin(), paths.end());
    NcclPath worst = paths[static_cast<std::size_t>(ends - 1)];
    if (worst > NcclPath::kPxn && host.pxn && has_nvlink() && paths.front() < NcclPath::kPxn) worst = NcclPath::kPxn;
    if (worst < between_) {
      between_ = worst;
      near_nics_ = 0;
    }
    near_nics_ += worst == between_ ? 1 : 0;
  }
}

double HostCapacity::fastest(bool several_hosts) const {
  if (several_hosts) return std::min(nic_rate_, slot_);
  if (!has_nvlink()) return between_gpus_;
  if (pairs_.empty()) return gpu_nvlink_;
  return *std::max_element(pairs_.begin(), pairs_.end());
}

int HostCapacity::mesh_rings(double speed) const {
  std::vector<int> units;
  for (const double rate : pairs_) units.push_back(rate > 0.0 ? fit(rate, speed) : 0);
  return count_rings(size(), std::move(units));
}

int HostCapacity::rings_inside(double speed) const {
  if (!has_nvlink()) return fit(between_gpus_, speed);
  return pairs_.empty() ? fit(gpu_nvlink_, speed) : mesh_rings(speed);
}

int HostCapacity::rings_between(double inside, double between) const {
  // NICs at the best path first; NCCL takes farther ones only while bandwidth is insufficient, and they share the
  // slots.
  int rings = near_nics_ * fit(nic_rate_, between);
  rings = std::min(rings, size() * fit(slot_, between));
  if (size() == 1) return rings;
  if (!has_nvlink()) return std::min(rings, fit(between_gpus_, inside));
  if (!pairs_.empty()) {
    // A ring through the host uses size - 1 arcs; a missing arc between its ends does not matter.
    int arcs = 0;
    for (const double rate : pairs_) arcs += rate > 0.0 ? fit(rate, inside) : 0;
    return std::min(rings, arcs / (size() - 1));
  }
  // All GPUs but the last of each ring send over NVLink.
  return std::min(rings, size() * fit(gpu_nvlink_, inside) / (size() - 1));
}

}  // namespace ringwright::collectives
