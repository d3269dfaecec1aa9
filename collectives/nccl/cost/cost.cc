#include "collectives/nccl/cost/cost.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "collectives/nccl/cost/families.h"
#include "collectives/nccl/cost/permitted.h"

namespace ringwright::collectives {
namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

double or_unlimited(double limit) {
  return limit > 0.0 ? limit : kUnlimited;
}

int floor_log2(std::int64_t n) {
  return n <= 0 ? -1 : static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n))) - 1;
}

NcclHost with_knobs(NcclHost host, const NcclKnobs& knobs, const NcclTables& tables) {
  if (!knobs.peer_to_peer) host.links = NcclHost::Links::kPcie;
  host.pxn = host.pxn && knobs.pxn.value_or(true) && tables.paths.pxn;
  host.cross_nic = knobs.cross_nic;
  host.collnet = knobs.collnet;
  for (NcclHost& other : host.others) other = with_knobs(std::move(other), knobs, tables);
  return host;
}

NcclGraphs found(const NcclHost& host, const GroupLayout& layout, const NcclTables& tables, NcclGraphCache* cache) {
  return cache == nullptr ? find_nccl_graphs(host, layout, tables) : cache->find(host, layout, tables);
}

// A file does not state how its rings reach their NICs.
NcclGraphs graphs_of(NcclGraphs found, const NcclGraphFile* file, const NcclHost& host, const NcclTables& tables,
                     const GroupLayout& layout) {
  if (file == nullptr) return found;
  NcclGraphs graphs = with_file(std::move(found), *file, layout);
  if (!graphs.ring.ports.empty() && graphs.ring.relays.empty()) {
    find_relays(host, members_by_host(layout).begin()->gpus, tables, graphs.ring);
  }
  return graphs;
}

// The vendor of all hosts' processors; none where they differ and the version sees that (ncclTopoTuneModel).
std::optional<Processor> processor_of(const NcclHost& host, const GroupLayout& layout, const NcclTables& tables) {
  const Processor first = host.weakest_of(layout).processor;
  if (!tables.paths.mixed_processors) return first;
  for (int i = 0; i < layout.host_count(); ++i) {
    if (host.of(layout.nic_set_of(i)).processor != first) return std::nullopt;
  }
  return first;
}

// Old versions compare with 8.0 and 9.0: an A10 (8.6) or L40S (8.9) has Volta's limits there (src/graph/tuning.cc of
// 2.8.3 to 2.15.1, compCap80 and compCapIndex).
Generation row_of(int compute_capability, const NcclBandwidthLimits& limits) {
  const bool known = compute_capability == 80 || compute_capability == 90;
  return limits.exact_gpus && !known ? Generation::kVolta : generation_of(compute_capability);
}

int clipped(int channels, const NcclKnobs& knobs, int most) {
  channels = std::min({channels, knobs.max_channels.value_or(most), knobs.max_blocks.value_or(most)});
  channels = std::max({channels, knobs.min_channels.value_or(1), knobs.min_blocks.value_or(1)});
  return std::clamp(channels, 1, most);
}

}  // namespace

NcclCostModel::NcclCostModel(const NcclTables& tables, const NcclHost& host, const NcclKnobs& knobs,
                             const GroupLayout& layout, const NcclGraphFile* graphs, NcclGraphCache* cache)
    : tables_(tables),
      host_(host.weakest_of(layout)),
      knobs_(knobs),
      group_{.ranks = layout.size(), .hosts = layout.host_count()},
      graphs_(graphs_of(found(with_knobs(host, knobs, tables), layout, tables, cache), graphs,
                        with_knobs(host, knobs, tables), tables, layout)),
      channels_(clipped(graphs_.compute_channels, knobs, tables.channels.most)),
      processor_(processor_of(host, layout, tables)),
      smallest_host_(layout.smallest_host),
      largest_host_(layout.largest_host),
      generation_(row_of(host_.compute_capability, tables.bandwidth)),
      column_(static_cast<std::size_t>(std::min(layout.host_count(), 3) - 1)) {}

const NcclGraph& NcclCostModel::graph_of(NcclAlgorithm algorithm) const {
  switch (algorithm) {
    case NcclAlgorithm::kTree: return graphs_.tree;
    case NcclAlgorithm::kNvls:
    case NcclAlgorithm::kNvlsTree: return tables_.nvls.on_rings ? graphs_.ring : graphs_.nvls;
    case NcclAlgorithm::kCollnetDirect: return graphs_.collnet;
    case NcclAlgorithm::kCollnetChain: return graphs_.collnet_chain;
    case NcclAlgorithm::kRing:
    case NcclAlgorithm::kPat: return graphs_.ring;
  }
  return graphs_.ring;
}

int NcclCostModel::steps(CollectiveKind kind) const {
  if (kind == CollectiveKind::kAllReduce) return 2 * (group_.ranks - 1);
  return one_way(kind) ? group_.ranks - 1 : group_.ranks;
}

// On one host the GPU bounds LL, over several the CPU: AMD's row also stands for hosts of several vendors.
std::size_t NcclCostModel::ll_row() const {
  if (group_.hosts == 1) return index_of(generation_);
  return processor_ == Processor::kAmd || !processor_ ? 1 : 0;
}

// The oldest versions limit LL128 by collective, later ones by GPU.
double NcclCostModel::ll128_channel(const Case& c, double by_generation) const {
  const double by_kind = tables_.bandwidth.ring_ll128_of_kind[index_of(c.kind)];
  return or_unlimited(by_kind > 0.0 ? by_kind : by_generation);
}

double NcclCostModel::ring_bandwidth(const Case& c, double bus) const {
  const auto g = index_of(generation_);
  const double channels = graphs_.ring.channels;
  if (c.protocol == Protocol::kLl) {
    const double limit = tables_.bandwidth.ll_total[ll_row()][column_];
    const bool free_path = group_.hosts == 1 && (one_way(c.kind) || c.kind == CollectiveKind::kBroadcast);
    return std::min(or_unlimited(limit), bus * (free_path ? tables_.ring.ll_share_one_way : tables_.ring.ll_share));
  }
  if (c.protocol == Protocol::kLl128) {
    const double share = group_.per_host() < 2.0 ? tables_.ring.ll128_share_alone : 0.92;
    return std::min(bus * share, channels * ll128_channel(c, tables_.bandwidth.ring_ll128[g][column_]));
  }
  return bus;
}

double NcclCostModel::tree_bandwidth(const Case& c, double bus) const {
  const auto g = index_of(generation_);
  const double channels = graphs_.tree.channels;
  double result = std::min(bus * 0.92, channels * or_unlimited(tables_.bandwidth.tree_simple[g][column_]));
  if (c.protocol == Protocol::kLl) {
    result = std::min(result / 3.8, or_unlimited(tables_.bandwidth.ll_total[ll_row()][column_]));
  }
  if (c.protocol == Protocol::kLl128) {
    result = std::min(result * (group_.hosts == 1 ? 7.0 / 9.0 : tables_.tree.ll128_share),
                      channels * ll128_channel(c, tables_.bandwidth.tree_ll128[g][column_]));
  }
  return graphs_.tree.plain_tree ? result * tables_.tree.plain_share : result;
}

double NcclCostModel::nvls_channel(const Case& c) const {
  const NcclGraph& graph = graph_of(c.algorithm);
  const bool tree = c.algorithm == NcclAlgorithm::kNvlsTree;
  const bool two_hosts = group_.hosts <= 2;
  if (tables_.nvls.tree_share > 0.0) return two_hosts ? graph.inside_gb : graph.between_gb;
  if (tables_.nvls.share > 0.0 && one_way(c.kind) && tables_.nvls.gathers_others) {
    return std::min(graph.inside_gb * (group_.per_host() - 1.0) / group_.per_host(), graph.between_gb * 0.9);
  }
  if (tables_.nvls.share > 0.0) {
    const double between = tree && !two_hosts ? graph.between_gb / 2.0 : graph.between_gb;
    return std::min(graph.inside_gb, between);
  }
  double inside =
      graph.inside_gb * tables_.nvls.efficiency[index_of(generation_)] * (graph.channels - 1) / graph.channels;
  inside *= c.kind == CollectiveKind::kAllReduce ? 2.0 : (group_.per_host() - 1.0) / group_.per_host();
  const double between = graph.between_gb * (tree && two_hosts ? 2.0 : 1.0);
  const double limit = tree ? or_unlimited(tables_.bandwidth.nvls_tree[index_of(generation_)][column_]) : kUnlimited;
  return std::min({inside, between, limit});
}

double NcclCostModel::collnet_bandwidth(const Case& c, double bus) const {
  if (c.algorithm != NcclAlgorithm::kCollnetDirect) return bus * tables_.collnet.chain_share;
  const NcclGraph& graph = graphs_.collnet;
  if (one_way(c.kind) && tables_.collnet.gathers_by_members) {
    const double weight = (group_.per_host() - 1.0) / 7.0;
    return group_.per_host() * graph.inside_gb * (weight * 0.85 + (1.0 - weight) * 0.95);
  }
  if (one_way(c.kind)) return group_.per_host() * std::min(graph.inside_gb, graph.between_gb * 0.9);
  // At full speed only with a NIC for each GPU.
  double gpus_of_nic = group_.per_host() / graph.channels;
  gpus_of_nic -= (gpus_of_nic - 1.0) / 2.0;
  return bus / gpus_of_nic * (host_.compute_capability >= 90 ? tables_.collnet.direct_from_hopper : 1.0);
}

// RCCL: on one host LL's chains (broadcast, reduce) have a separate, higher factor.
double NcclCostModel::share_of_ring(const Case& c) const {
  constexpr double kChainsOfLl = 1.65;
  const std::size_t many = group_.hosts > 2 ? 1 : 0;
  const double share = tables_.rccl.bandwidth_share[many][index_of(c.algorithm)][index_of(c.protocol)];
  const bool chain = c.kind == CollectiveKind::kBroadcast || c.kind == CollectiveKind::kReduce;
  return chain && c.protocol == Protocol::kLl && group_.hosts == 1 ? share * kChainsOfLl : share;
}

double NcclCostModel::bus_bandwidth(const Case& c) const {
  const NcclGraph& graph = graph_of(c.algorithm);
  const double channel = group_.hosts <= 2 || is_collnet(c.algorithm) ? graph.inside_gb : graph.between_gb;
  const double most = or_unlimited(tables_.bandwidth.bus[index_of(generation_)]);
  const double bus = std::min(graph.channels * channel, most);
  if (tables_.rccl.by_share) return bus * share_of_ring(c);
  if (is_nvls(c.algorithm)) return std::min(graph.channels * nvls_channel(c), most);
  if (is_collnet(c.algorithm)) return collnet_bandwidth(c, bus);
  if (c.algorithm == NcclAlgorithm::kTree) return tree_bandwidth(c, bus);
  if (c.algorithm == NcclAlgorithm::kPat) return bus * tables_.pat.share;
  return ring_bandwidth(c, bus);
}

// From link rate to size / time.
double NcclCostModel::algorithm_bandwidth(const Case& c) const {
  const double bus = bus_bandwidth(c);
  const bool ring = c.algorithm == NcclAlgorithm::kRing;
  if (one_way(c.kind) && !ring) {
    return is_nvls(c.algorithm) && tables_.nvls.share_of_gathers ? bus * tables_.nvls.share : bus;
  }
  if (c.algorithm == NcclAlgorithm::kNvlsTree && tables_.nvls.tree_share > 0.0) {
    return bus * tables_.nvls.tree_share * group_.hosts / (2.0 * (group_.hosts - 1.0));
  }
  if (is_nvls(c.algorithm) && tables_.nvls.share > 0.0) return bus * tables_.nvls.share;
  if (ring || is_nvls(c.algorithm)) return bus * group_.ranks / steps(c.kind);
  return bus * 0.5;
}

double NcclCostModel::hop_us(const NcclGraph& graph, const Case& c) const {
  const NcclHop hop = graph.inside == NcclPath::kNvlink ? NcclHop::kNvlink : NcclHop::kPcie;
  // With POWER processors a tree's hop over PCIe costs a ring's with Simple ("De-penalize", ncclTopoTuneModel).
  const bool as_ring = hop == NcclHop::kPcie && c.algorithm == NcclAlgorithm::kTree &&
                       c.protocol == Protocol::kSimple && host_.processor == Processor::kPower;
  const NcclAlgorithm row = as_ring ? NcclAlgorithm::kRing : c.algorithm;
  return tables_.latency.hop_us[index_of(hop)][index_of(row)][index_of(c.protocol)];
}

double NcclCostModel::ring_latency(const Case& c, double network_us) const {
  const bool several_hosts = group_.hosts > 1;
  const std::size_t p = index_of(c.protocol);
  double inside = hop_us(graphs_.ring, c);
  if (c.kind == CollectiveKind::kBroadcast || c.kind == CollectiveKind::kReduce) {
    const auto& network = tables_.latency.hop_us[index_of(NcclHop::kNetwork)];
    if (graphs_.ring.same_channels) return several_hosts ? network[index_of(NcclAlgorithm::kRing)][p] : inside;
    // Simple waits for whole chunks: NCCL charges a tree's hop.
    const bool simple = c.protocol == Protocol::kSimple;
    const Case as_tree{
        .kind = c.kind, .algorithm = simple ? NcclAlgorithm::kTree : c.algorithm, .protocol = c.protocol};
    return steps(c.kind) * (several_hosts ? network[index_of(as_tree.algorithm)][p] : hop_us(graphs_.ring, as_tree));
  }
  if (several_hosts && c.protocol == Protocol::kLl) inside *= tables_.ring.ll_inside_factor;
  if (several_hosts && tables_.ring.posts) {
    const double post = knobs_.net_overhead_us.value_or(processor_ == Processor::kAmd ? 2.0 : 1.0);
    inside = std::max(inside, c.protocol == Protocol::kSimple ? 3.0 * post : post);
  }
  int network_steps = one_way(c.kind) ? group_.hosts - 1 : 2 * (group_.hosts - 1);
  if (tables_.ring.extra_network_steps && several_hosts && !one_way(c.kind)) network_steps = 2 * group_.hosts;
  return (steps(c.kind) - network_steps) * inside + network_steps * network_us;
}

double NcclCostModel::latency(const Case& c) const {
  const NcclGraph& graph = graph_of(c.algorithm);
  const std::size_t p = index_of(c.protocol);
  const double base = tables_.latency.base_us[index_of(c.algorithm)][p];
  const bool slower = group_.hosts > 1 && c.protocol == Protocol::kLl;
  const double inside = hop_us(graph, c) * (slower ? tables_.ring.ll_inside_factor : 1.0);
  const bool as_tree = group_.ranks == group_.hosts && tables_.ring.alone_as_tree;
  const NcclAlgorithm row = as_tree ? NcclAlgorithm::kTree : c.algorithm;
  // Simple also waits for the NIC's flush.
  const double network = tables_.latency.hop_us[index_of(NcclHop::kNetwork)][index_of(row)][p] +
                         graph.nic_latency_us * (c.protocol == Protocol::kSimple ? 2.0 : 1.0);
  const int others = group_.ranks / group_.hosts - 1;
  const int levels = floor_log2(group_.hosts);
  switch (c.algorithm) {
    case NcclAlgorithm::kRing: return base + ring_latency(c, network);
    case NcclAlgorithm::kTree: return base + 2.0 * (others * inside + levels * network);
    case NcclAlgorithm::kCollnetDirect:
      return base + 2.0 * (std::min(1, others) * inside + others * tables_.collnet.arity_us) + network;
    case NcclAlgorithm::kCollnetChain:
      return base + 2.0 * others * inside + (tables_.collnet.chain_network ? network : 0.0);
    case NcclAlgorithm::kNvls: return base + inside + (group_.hosts > 1 ? network : 0.0);
    case NcclAlgorithm::kNvlsTree:
      return base + inside + 2.0 * (tables_.nvls.by_levels ? levels : group_.hosts - 1) * network;
    case NcclAlgorithm::kPat: return base + levels * network / 3.5 + group_.ranks * 2.8;
  }
  return base;
}

bool NcclCostModel::is_by_size(const CollectiveCall& call) const {
  return tables_.rccl.ll_up_to > 0 && group_.hosts > 1 && call.kind == CollectiveKind::kAllReduce;
}

// RCCL's alternative: the size selects the protocol before algorithms are compared.
Protocol NcclCostModel::protocol_of_size(Bytes bytes) const {
  if (bytes.count() <= tables_.rccl.ll_up_to) return Protocol::kLl;
  const std::int64_t more = tables_.rccl.ll128_more_by_doubling * floor_log2(group_.hosts);
  return bytes.count() <= tables_.rccl.ll128_up_to + more ? Protocol::kLl128 : Protocol::kSimple;
}

bool NcclCostModel::on_plateau(Bytes bytes) const {
  if (tables_.ring.plateau_by_ranks) return static_cast<double>(bytes.count()) >= group_.ranks / 16.0 * 65536.0;
  return bytes.count() / (static_cast<std::int64_t>(channels_) * group_.ranks) >= 64;
}

// Of the bandwidth, by powers of two from 64 B. RCCL's last factor holds for all larger sizes.
double NcclCostModel::correction(const Case& c, Bytes bytes) const {
  constexpr int kOfTrees = 23;
  const int power = floor_log2(bytes.count() / 64);
  if (c.kind != CollectiveKind::kAllReduce && !tables_.rccl.by_share) return 1.0;
  const bool of_rings = tables_.rccl.by_share && c.algorithm == NcclAlgorithm::kRing && group_.hosts > 1;
  const bool of_nvls_trees = c.algorithm == NcclAlgorithm::kNvlsTree && !(tables_.nvls.share > 0.0) &&
                             host_.compute_capability >= 100 && host_.processor != Processor::kArm &&
                             host_.processor != Processor::kPower;
  const std::vector<double>& factors =
      (of_rings ? tables_.rccl.ring_correction : tables_.tree.correction)[index_of(c.protocol)];
  if (c.algorithm != NcclAlgorithm::kTree && !of_rings && !of_nvls_trees) return 1.0;
  if (factors.empty()) return 1.0;
  const int known = static_cast<int>(factors.size());
  if (tables_.rccl.by_share) return factors[static_cast<std::size_t>(std::clamp(power, 0, known - 1))];
  const int last = of_nvls_trees ? known : std::min(known, kOfTrees);
  return power >= 0 && power < last ? factors[static_cast<std::size_t>(power)] : 1.0;
}

double NcclCostModel::time(const Case& c, const CollectiveCall& call, const NcclCost& cost) const {
  const double bandwidth = cost.bandwidth_gb * correction(c, call.bytes);
  const bool plateau = c.kind == CollectiveKind::kAllReduce && c.algorithm == NcclAlgorithm::kRing &&
                       c.protocol == Protocol::kSimple && group_.hosts > 1 && on_plateau(call.bytes);
  const double latency_us = cost.latency_us * (plateau ? tables_.ring.plateau[index_of(generation_)] : 1.0);
  return latency_us + static_cast<double>(call.bytes.count()) / (1000.0 * bandwidth);
}

std::vector<NcclCost> NcclCostModel::costs(const CollectiveCall& call) const {
  std::vector<NcclCost> result;
  if (group_.ranks < 2) return result;
  for (const NcclAlgorithm algorithm : kNcclAlgorithms) {
    for (const Protocol protocol : kAllProtocols) {
      if (!nccl_has(call.kind, algorithm, protocol)) continue;
      const Case c{.kind = call.kind, .algorithm = algorithm, .protocol = protocol};
      NcclCost cost{.algorithm = algorithm, .protocol = protocol, .latency_us = latency(c), .why_not = why_not(c)};
      if (cost.why_not.empty() && is_by_size(call) && protocol != protocol_of_size(call.bytes)) {
        cost.why_not = "another protocol is used for this size";
      }
      if (cost.why_not.empty()) cost.bandwidth_gb = algorithm_bandwidth(c);
      if (cost.why_not.empty() && cost.bandwidth_gb <= 0.0) cost.why_not = "the version gives it no bandwidth";
      if (cost.why_not.empty()) cost.time_us = time(c, call, cost);
      result.push_back(cost);
    }
  }
  return result;
}

}  // namespace ringwright::collectives
