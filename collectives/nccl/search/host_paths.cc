// Hosts of a communicator are of one kind if they have the same GPUs at the same positions, and the same NICs; with
// NCCL_CROSS_NIC=2 every second host swaps the channels of a pair, so that a ring that leaves by one NIC enters the
// next host by the same one (ncclTopoPostset of NCCL's src/graph/connect.cc).
#include "collectives/nccl/search/host_paths.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/base/index.h"

namespace ringwright::collectives {
namespace {

const NcclGraph* graph_of(const NcclGraphs& graphs, NcclAlgorithm algorithm) {
  switch (algorithm) {
    case NcclAlgorithm::kRing: return &graphs.ring;
    case NcclAlgorithm::kTree: return &graphs.tree;
    case NcclAlgorithm::kCollnetChain: return &graphs.collnet_chain;
    case NcclAlgorithm::kCollnetDirect:
    case NcclAlgorithm::kNvls:
    case NcclAlgorithm::kNvlsTree:
    case NcclAlgorithm::kPat: return nullptr;
  }
  return nullptr;
}

// The graph of hosts with members on these GPUs and with these NICs; null: unknown.
const NcclGraph* graph_on(const NcclGraphs& graphs, NcclAlgorithm algorithm, HostMembers host) {
  const NcclGraph* graph = graph_of(graphs, algorithm);
  if (graph == nullptr || !graph->orders.empty()) return graph;
  std::ranges::sort(host.gpus);
  const auto known = std::ranges::find(graphs.members, host);
  if (known == graphs.members.end()) return nullptr;
  graph = graph_of(graphs.of_members[static_cast<std::size_t>(known - graphs.members.begin())], algorithm);
  return graph->orders.empty() ? nullptr : graph;
}

// Chains return to the network where they entered.
HostPath path_of_channel(const NcclHost& host, const NcclGraph& graph, NcclAlgorithm algorithm, int channel) {
  HostPath path{.order = graph.orders[at(channel)]};
  if (graph.ports.empty()) return path;
  const std::array<int, 2>& ports = graph.ports[at(channel)];
  path.in = ports[0] / host.ports;
  path.out = ports[algorithm == NcclAlgorithm::kRing ? 1 : 0] / host.ports;
  if (!graph.relays.empty()) path.relay = graph.relays[at(channel)];
  return path;
}

// From GPU numbers to member positions; false: a GPU is not a member.
bool to_places(const std::vector<int>& gpus, std::vector<int>& order) {
  if (order.size() != gpus.size()) return false;
  for (int& gpu : order) {
    const auto place = std::ranges::find(gpus, gpu);
    if (place == gpus.end()) return false;
    gpu = static_cast<int>(place - gpus.begin());
  }
  return true;
}

bool repeats(const std::vector<std::vector<HostPath>>& paths, std::size_t period) {
  return std::ranges::all_of(paths, [period](const std::vector<HostPath>& on_host) {
    for (std::size_t channel = period; channel < on_host.size(); ++channel) {
      if (!(on_host[channel] == on_host[channel - period])) return false;
    }
    return true;
  });
}

class PathFinder {
 public:
  PathFinder(const NcclHost& host, const NcclGraphs& graphs, NcclAlgorithm algorithm, int channels)
      : host_(host), graphs_(graphs), algorithm_(algorithm), channels_(channels) {}

  // False: no paths are known there.
  bool add_host(const HostMembers& members, bool odd) {
    const auto same =
        std::ranges::find_if(seen_, [&](const Seen& seen) { return seen.odd == odd && seen.members == members; });
    if (same == seen_.end()) return add_kind(members, odd);
    result_.kind_of_host.push_back(same->kind);
    return true;
  }

  HostPaths take() { return std::move(result_); }

 private:
  struct Seen {
    HostMembers members;
    bool odd = false;
    int kind = 0;  // of `kinds_`
  };

  bool add_kind(const HostMembers& members, bool odd) {
    const NcclGraph* graph = graph_on(graphs_, algorithm_, members);
    if (graph == nullptr || graph->orders.empty()) return false;
    const NcclHost& own = host_.of(members.nic_set);
    const int found = found_on(*graph);
    const bool swapped = odd && graph->swaps_nics && found % 2 == 0;
    const std::pair kind(members, swapped);
    const auto known = std::ranges::find(kinds_, kind);
    result_.kind_of_host.push_back(static_cast<int>(known - kinds_.begin()));
    seen_.push_back({.members = members, .odd = odd, .kind = result_.kind_of_host.back()});
    if (known != kinds_.end()) return true;
    std::vector<HostPath>& paths = result_.paths.emplace_back();
    for (int channel = 0; channel < channels_; ++channel) {
      const int of_graph = channel % found;
      HostPath path = path_of_channel(own, *graph, algorithm_, swapped ? of_graph ^ 1 : of_graph);
      if (!to_places(kind.first.gpus, path.order)) return false;
      paths.push_back(std::move(path));
    }
    kinds_.push_back(kind);
    return true;
  }

  // Channels of the communicator: for rings and trees the number that all hosts found of both.
  [[nodiscard]] int found_on(const NcclGraph& graph) const {
    const int all = graph_of(graphs_, algorithm_)->channels;
    return std::clamp(all, 1, static_cast<int>(graph.orders.size()));
  }

  const NcclHost& host_;
  const NcclGraphs& graphs_;
  NcclAlgorithm algorithm_;
  int channels_;
  std::vector<Seen> seen_;
  std::vector<std::pair<HostMembers, bool>> kinds_;
  HostPaths result_;
};

// A path for every channel.
HostPaths paths_of_channels(const NcclHost& host, const NcclGraphs& graphs, NcclAlgorithm algorithm,
                            const GroupLayout& layout, int channels) {
  PathFinder finder(host, graphs, algorithm, channels);
  HostMembers members;
  for (int h = 0; h < layout.host_count(); ++h) {
    members.nic_set = layout.nic_set_of(h);
    members.gpus.clear();
    for (const int member : layout.hosts[at(h)]) members.gpus.push_back(layout.gpu_of[at(member)]);
    if (!finder.add_host(members, h % 2 == 1)) return {};
  }
  return finder.take();
}

// Rings by the NIC that they leave by.
class NicLoad {
 public:
  void add(int nic) {
    ++rings_of_[nic];
    ++rings_;
  }
  [[nodiscard]] bool known() const { return rings_ > 0 && !rings_of_.contains(-1); }
  // Its share of all rings.
  [[nodiscard]] double busiest() const {
    int most = 0;
    for (const auto& [nic, rings] : rings_of_) most = std::max(most, rings);
    return static_cast<double>(most) / rings_;
  }

 private:
  std::map<int, int> rings_of_;
  int rings_ = 0;
};

// The NIC of a GPU among those at its PCIe switch, shared out in order; without any there, among all.
int own_nic(const NcclHost& host, int gpu) {
  const int nics = host.nics / host.ports;
  if (host.gpu_at.empty()) return gpu * nics / host.gpus;
  const int point = host.gpu_at[at(gpu)];
  std::vector<int> near;
  for (int nic = 0; nic < nics; ++nic) {
    if (host.nic_at[at(nic * host.ports)] == point) near.push_back(nic);
  }
  if (near.empty()) return gpu * nics / host.gpus;
  const auto place = std::count(host.gpu_at.begin(), host.gpu_at.begin() + gpu, point);
  const auto gpus = std::ranges::count(host.gpu_at, point);
  return near[static_cast<std::size_t>(place * std::ssize(near) / gpus)];
}

}  // namespace

bool spread_over_nics(const HostPaths& found, const NcclHost& host, const GroupLayout& layout) {
  std::set<int> seen;  // kinds of hosts
  for (int h = 0; h < layout.host_count() && seen.size() < found.paths.size(); ++h) {
    const int kind = found.kind_of_host.empty() ? 0 : found.kind_of_host[at(h)];
    if (!seen.insert(kind).second) continue;
    NicLoad own;
    for (const int member : layout.hosts[at(h)]) {
      own.add(own_nic(host.of(layout.nic_set_of(h)), layout.gpu_of[at(member)]));
    }
    NicLoad used;
    for (const HostPath& path : found.paths[at(kind)]) used.add(path.out);
    if (used.known() && (used.busiest() < own.busiest() || used.busiest() > own.busiest())) return true;
  }
  return false;
}

HostPaths host_paths(const NcclHost& host, const NcclGraphs& graphs, NcclAlgorithm algorithm, const GroupLayout& layout,
                     int channels) {
  HostPaths found = paths_of_channels(host, graphs, algorithm, layout, channels);
  if (found.paths.empty()) return found;
  const NcclAlgorithm other_algorithm = algorithm == NcclAlgorithm::kRing ? NcclAlgorithm::kTree : NcclAlgorithm::kRing;
  const HostPaths others = paths_of_channels(host, graphs, other_algorithm, layout, channels);
  const auto all = static_cast<std::size_t>(channels);
  std::size_t period = 1;
  while (all % period != 0 || !repeats(found.paths, period) || !repeats(others.paths, period)) ++period;
  for (std::vector<HostPath>& on_host : found.paths) on_host.resize(period);
  if (found.paths.size() == 1) found.kind_of_host.clear();
  return found;
}

}  // namespace ringwright::collectives
