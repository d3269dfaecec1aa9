#include "collectives/nccl/search/graph.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "collectives/channels/nvls_parts.h"
#include "collectives/nccl/search/path_types.h"
#include "collectives/nccl/search/rccl_graph.h"
#include "collectives/nccl/search/search.h"
#include "collectives/nccl/search/search_bound.h"

namespace ringwright::collectives {
namespace {

// Step limits of one search and of all searches of a pattern (search.cc of 2.19 and later; older versions have others
// for all searches, and before 2.16 took longer for the same).
constexpr int kSteps = 1 << 14;
constexpr int kIdenticalSteps = 1 << 8;
constexpr std::int64_t kStepsInAll = 1 << 19;
// A slower list entry is tried while it exceeds this fraction of the best found.
constexpr double kWorthTrying = 0.49;
constexpr int kWide = 25'000;  // MB/s from which on channels are doubled
constexpr int kVeryWide = 50'000;

struct Asked {
  NcclPattern pattern;
  int least;
  int most;
};

// Searches for one pattern on one host, first with less and less, then with more speed.
class GraphFinder {
 public:
  GraphFinder(const NcclTopology& topology, const NcclTables& tables)
      : topology_(topology), search_(topology), tables_(tables), paths_(topology) {
    const std::size_t generation = index_of(generation_of(topology.host().compute_capability));
    for (const double speed :
         topology.nets() > 0 ? tables.search.between[generation] : tables.search.inside[generation]) {
      speeds_.push_back(static_cast<int>(std::lround(speed * 1000.0)));
    }
  }

  NcclChannels find(Asked asked);

 private:
  enum class Outcome { kGoOn, kDone };

  void begin(Asked asked);
  [[nodiscard]] std::size_t fastest_worth(int least) const;
  Outcome attempt();
  bool loosen();
  bool loosen_order();
  bool loosen_types();
  void double_wide();
  void speed_up();
  bool faster();
  [[nodiscard]] NcclPath first_inside() const { return topology_.gpus() == 1 ? NcclPath::kLocal : NcclPath::kNvlink; }
  void try_speed(int speed) { trial_.inside = trial_.between = speed; }

  const NcclTopology& topology_;
  NcclSearch search_;
  const NcclTables& tables_;
  PathTypes paths_;
  std::vector<int> speeds_;
  int cross_nic_ = 0;
  bool identical_first_ = true;
  std::size_t speed_ = 0;
  std::int64_t budget_ = 0;
  int left_ = 0;
  NcclChannels trial_;
  NcclChannels best_;
};

void GraphFinder::begin(Asked asked) {
  const bool swaps = asked.pattern == NcclPattern::kRing || asked.pattern == NcclPattern::kBalancedTree ||
                     asked.pattern == NcclPattern::kSplitTree;
  cross_nic_ = topology_.nets() > 1 && swaps ? topology_.host().cross_nic : 0;
  identical_first_ = asked.pattern != NcclPattern::kNvls;
  if (topology_.gpus() == 1 && asked.pattern != NcclPattern::kRing) asked.pattern = NcclPattern::kTree;
  best_ = {.pattern = asked.pattern,
           .cross_nic = cross_nic_ == 1 ? 1 : 0,
           .least = asked.least,
           .most = asked.most,
           .type_inside = first_inside(),
           .same = identical_first_};
  trial_ = best_;
  speed_ = fastest_worth(asked.least);
  try_speed(speeds_[speed_]);
  budget_ = kStepsInAll;
}

// The root of a tree on one host neither sends up nor receives from above: the load of a ring over `size` GPUs is that
// of a tree over size-1.
std::size_t GraphFinder::fastest_worth(int least) const {
  const double gpus = topology_.gpus();
  const double total = topology_.total() * (gpus > 1 && best_.pattern != NcclPattern::kRing ? gpus / (gpus - 1) : 1.0);
  if (!tables_.search.starts_by_channels) least = 0;
  std::size_t index = 0;
  while (index + 1 < speeds_.size() && (speeds_[index] > topology_.fastest() || speeds_[index] * least > total))
    ++index;
  return index;
}

GraphFinder::Outcome GraphFinder::attempt() {
  const int steps = trial_.same ? kIdenticalSteps : kSteps;
  budget_ -= steps;
  const bool hopeless = is_hopeless(topology_, trial_, best_);
  left_ = hopeless ? steps : search_.run(trial_, steps, best_);
  if (left_ == NcclSearch::kPerfect || best_.count * best_.between >= topology_.total()) return Outcome::kDone;
  return Outcome::kGoOn;
}

// A different order on every channel, unless traffic between sockets of AMD CPUs is involved; a simpler tree.
bool GraphFinder::loosen_order() {
  const bool sockets = tables_.search.one_order_over_amd && topology_.host().processor == Processor::kAmd &&
                       trial_.type_inside == NcclPath::kSys;
  if (trial_.same && !sockets) {
    trial_.same = false;
    return true;
  }
  trial_.same = identical_first_;
  budget_ += left_;
  if (budget_ < 0 && best_.count > 0) return false;
  if (tables_.search.plain_trees && topology_.host().compute_capability >= 90 &&
      trial_.pattern == NcclPattern::kBalancedTree) {
    trial_.pattern = NcclPattern::kTree;
    return true;
  }
  trial_.pattern = best_.pattern;
  return false;
}

// Worse paths inside the host, no worse than those to the network; then worse paths to the network.
bool GraphFinder::loosen_types() {
  const bool none = best_.count == 0;
  const bool outside = topology_.nets() > 0;
  const NcclPath most = outside ? trial_.type_between : NcclPath::kSys;
  if (trial_.type_inside < most && (none || trial_.type_inside < best_.type_inside)) {
    if (const auto worse = paths_.worse_inside(trial_.type_inside, most)) {
      trial_.type_inside = *worse;
      return true;
    }
  }
  trial_.type_inside = first_inside();
  const bool better = none || trial_.type_between < best_.type_between || trial_.type_between < NcclPath::kPxn;
  if (outside && better) {
    if (const auto worse = paths_.worse_between(trial_.type_between, NcclPath::kSys)) {
      trial_.type_between = *worse;
      return true;
    }
  }
  trial_.type_between = NcclPath::kPix;
  return false;
}

// The next trial of the first pass; false: none is left.
bool GraphFinder::loosen() {
  if (loosen_order()) return true;
  if (budget_ < 0 && best_.count > 0) return false;
  if (loosen_types()) return true;
  const bool swaps = best_.pattern == NcclPattern::kRing || best_.pattern == NcclPattern::kBalancedTree;
  if (cross_nic_ == 2 && trial_.cross_nic == 0 && swaps) {
    trial_.cross_nic = tables_.search.pairs_swap_nics ? 2 : 1;
    return true;
  }
  trial_.cross_nic = cross_nic_ == 1 ? 1 : 0;
  if (speed_ + 1 == speeds_.size()) return false;
  if (best_.count > 0 && static_cast<double>(speeds_[speed_ + 1]) / best_.between <= kWorthTrying) return false;
  try_speed(speeds_[++speed_]);
  return true;
}

// Wide channels are doubled, each with half of the bandwidth.
void GraphFinder::double_wide() {
  if (best_.count == 0 || best_.pattern == NcclPattern::kNvls || best_.inside < kWide) return;
  const bool several = best_.count > tables_.search.doubled_from_hopper;
  if (topology_.host().compute_capability > 80 && best_.inside < kVeryWide && several) return;
  const int doubled = std::min(best_.count * 2, best_.most);
  const int times = (doubled + best_.count - 1) / best_.count;
  const int gpus = topology_.gpus();
  const auto repeat = [&](std::vector<int>& values, int each) {
    for (int i = best_.count * each; i < doubled * each; ++i) {
      values[static_cast<std::size_t>(i)] = values[static_cast<std::size_t>(i - best_.count * each)];
    }
  };
  repeat(best_.gpus, gpus);
  repeat(best_.nets, 2);
  best_.inside /= times;
  best_.between /= times;
  best_.count = doubled;
}

// The second pass's next speed: of rings inside and between, of in-switch reduction between, of trees inside hosts.
bool GraphFinder::faster() {
  if (left_ == 0 || speed_ == 0) return false;
  if (best_.pattern == NcclPattern::kRing) {
    if (!tables_.search.speeds_up_rings) return false;
    try_speed(speeds_[--speed_]);
    return true;
  }
  if (best_.pattern == NcclPattern::kNvls && trial_.between == best_.between && trial_.between < trial_.inside * 2) {
    trial_.least = trial_.most = best_.count;
    trial_.between = speeds_[--speed_];
    return true;
  }
  if (trial_.inside == best_.inside && trial_.inside < trial_.between * 2) {
    trial_.inside = speeds_[--speed_];
    return true;
  }
  return false;
}

void GraphFinder::speed_up() {
  left_ = NcclSearch::kPerfect;
  trial_ = best_;
  trial_.least = best_.count;
  speed_ = 0;
  while (speed_ + 1 < speeds_.size() && speeds_[speed_] > best_.between) ++speed_;
  try_speed(speeds_[speed_]);
  while (faster()) attempt();
}

NcclChannels GraphFinder::find(Asked asked) {
  begin(asked);
  while (attempt() == Outcome::kGoOn && loosen()) {
  }
  if (tables_.search.doubles_first) double_wide();
  if (best_.count > 0) speed_up();
  if (!tables_.search.doubles_first) double_wide();
  return best_;
}

// The GPU through which a GPU reaches a network port (PXN), as a position in the host; -1: none needed.
int relay_between(const NcclTopology& topology, int gpu, int port) {
  const NcclTopology::Route& route = topology.route(gpu, topology.net(port));
  if (route.path != NcclPath::kPxn) return -1;
  for (int hop = route.hops(); hop-- > 0;) {
    const int device = topology.links()[at(route.links[at(hop)])].from;
    if (topology.kind(device) != NcclTopology::Device::kGpu || device == gpu) continue;
    return topology.members()[static_cast<std::size_t>(device)];
  }
  return -1;
}

// In rings the last GPU sends to the network, in chains the first one does.
int relay_of(const NcclTopology& topology, const NcclChannels& found, int channel) {
  const bool ring = found.pattern == NcclPattern::kRing;
  const auto gpu = found.gpus.begin() + channel * topology.gpus() + (ring ? topology.gpus() - 1 : 0);
  return relay_between(topology, *gpu, *(found.nets.begin() + channel * 2 + (ring ? 1 : 0)));
}

// Where nothing fits, NCCL takes the GPUs in order, on one slow channel.
NcclGraph fallback_graph(const NcclTopology& topology) {
  NcclGraph graph{.channels = 1,
                  .inside_gb = 0.1,
                  .between_gb = 0.1,
                  .inside = NcclPath::kSys,
                  .between = NcclPath::kSys,
                  .orders = {topology.members()}};
  if (topology.nets() == 0) return graph;
  graph.ports = {{0, 0}};
  graph.relays = {relay_between(topology, topology.gpus() - 1, 0)};
  return graph;
}

NcclGraph described(const NcclTopology& topology, const NcclChannels& found) {
  NcclGraph graph{.channels = found.count,
                  .inside_gb = found.inside / 1000.0,
                  .between_gb = found.between / 1000.0,
                  .inside = found.type_inside,
                  .between = found.type_between,
                  .same_channels = found.same,
                  .plain_tree = found.pattern == NcclPattern::kTree,
                  .nic_latency_us = topology.host().nic_latency_us,
                  .swaps_nics = found.pattern == NcclPattern::kRing && found.cross_nic == 2};
  for (int channel = 0; channel < found.count; ++channel) {
    const auto first = found.gpus.begin() + channel * topology.gpus();
    std::vector<int>& order = graph.orders.emplace_back(first, first + topology.gpus());
    for (int& gpu : order) gpu = topology.members()[static_cast<std::size_t>(gpu)];
    if (topology.nets() == 0) continue;
    const auto net = found.nets.begin() + channel * 2;
    graph.ports.push_back({*net, *(net + 1)});
    graph.relays.push_back(relay_of(topology, found, channel));
  }
  return graph;
}

}  // namespace

NcclGraphs find_graphs_on_host(const NcclHost& host, const std::vector<int>& members, const NcclTables& tables,
                               bool several_hosts) {
  if (tables.rccl.by_share) return find_rccl_graphs(host, members, tables, several_hosts);
  const NcclTopology topology(host, members, tables, several_hosts);
  GraphFinder finder(topology, tables);
  const auto find = [&](NcclPattern pattern, int least, int most) {
    const NcclChannels found = finder.find({.pattern = pattern, .least = least, .most = most});
    const bool must = pattern == NcclPattern::kRing || pattern == NcclPattern::kBalancedTree;
    return found.count == 0 && must ? fallback_graph(topology) : described(topology, found);
  };
  NcclGraphs graphs;
  const int heads = std::min(topology.gpus(), kMostNvlsHeads);
  graphs.ring = find(NcclPattern::kRing, 1, tables.channels.most / 2);
  graphs.tree = find(NcclPattern::kBalancedTree, graphs.ring.channels, graphs.ring.channels);
  if (host.multicast && topology.has_switch()) {
    graphs.nvls = find(NcclPattern::kNvls, several_hosts ? 1 : heads, heads);
  }
  if (host.collnet && several_hosts) {
    graphs.collnet = find(NcclPattern::kCollnetDirect, 1, heads);
    graphs.collnet_chain = find(NcclPattern::kTree, graphs.ring.channels, graphs.ring.channels);
  }
  graphs.ring.channels = graphs.tree.channels = std::min(graphs.ring.channels, graphs.tree.channels);
  return graphs;
}

void find_relays(const NcclHost& host, const std::vector<int>& members, const NcclTables& tables, NcclGraph& graph) {
  graph.relays.clear();
  if (graph.ports.empty()) return;
  const NcclTopology topology(host, members, tables, true);
  for (std::size_t channel = 0; channel < graph.orders.size(); ++channel) {
    const auto gpu = std::ranges::find(members, graph.orders[channel].back());
    const int port = graph.ports[channel][1];
    const bool known = gpu != members.end() && port >= 0 && port < topology.nets();
    graph.relays.push_back(known ? relay_between(topology, static_cast<int>(gpu - members.begin()), port) : -1);
  }
}

}  // namespace ringwright::collectives
