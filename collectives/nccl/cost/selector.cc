#include "collectives/nccl/cost/selector.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "collectives/nccl/cost/work.h"
#include "collectives/nccl/search/host_paths.h"
#include "collectives/nccl/search/ring_orders.h"
#include "core/ports/channel_algorithm.h"

namespace ringwright::collectives {
namespace {

bool usable(const NcclCost& cost) {
  return cost.why_not.empty();
}

// The cheapest that can be used; the first of equals, in NCCL's order. A ring when none can.
NcclChoice cheapest(const std::vector<NcclCost>& costs) {
  const NcclCost* best = nullptr;
  for (const NcclCost& cost : costs) {
    if (usable(cost) && (best == nullptr || cost.time_us < best->time_us)) best = &cost;
  }
  return best == nullptr ? NcclChoice{} : NcclChoice{.algorithm = best->algorithm, .protocol = best->protocol};
}

// A tuner's line sets the cost of its entry to zero, unless the entry cannot be used.
NcclChoice choose(const NcclSetup& setup, const CollectiveCall& call, const std::vector<NcclCost>& costs) {
  if (const TunerLine* line = setup.tuner.find(call)) {
    for (const NcclCost& cost : costs) {
      if (cost.algorithm != line->algorithm || cost.protocol != line->protocol || !usable(cost)) continue;
      return {.algorithm = line->algorithm, .protocol = line->protocol, .channels = std::max(0, line->channels)};
    }
  }
  return cheapest(costs);
}

// Sends use PXN: GPUs write to each other over NVLink, and no setting forbids it.
// A GPU hands over other GPUs' messages only to a NIC that it reaches without the processor, or over NVLink-C2C where
// the version has such paths (pxnType in ncclTopoGetNetDev of src/graph/search.cc).
bool is_next_to_nic(const NcclHost& host, const NcclTables& tables) {
  if (host.by_c2c()) return tables.paths.c2c;
  return host.pcie_switches > 0 && std::ranges::any_of(host.nic_at, [&](int point) {
           return std::ranges::find(host.gpu_at, point) != host.gpu_at.end();
         });
}

bool uses_pxn(const NcclSetup& setup, const GroupLayout& layout) {
  const NcclKnobs& knobs = setup.knobs;
  const NcclPathRules& rules = setup.tables.paths;
  const NcclHost& host = setup.host.weakest_of(layout);
  const bool enabled = knobs.pxn.value_or(layout.size() >= rules.pxn_from_ranks);
  return rules.pxn && enabled && knobs.p2p_pxn && knobs.peer_to_peer && host.links != NcclHost::Links::kPcie &&
         host.nics > 1 && is_next_to_nic(host, setup.tables);
}

Bytes chunk_of(const NcclKnobs& knobs, const NcclChoice& choice) {
  constexpr std::int64_t kSlots = 8;  // per buffer; a chunk fills one slot, in LL half of it
  if (choice.algorithm == NcclAlgorithm::kNvls) return knobs.nvls_chunk.value_or(Bytes(0));
  if (choice.algorithm == NcclAlgorithm::kNvlsTree) return knobs.nvls_tree_chunk.value_or(Bytes(0));
  const auto& buffer = knobs.buffer[index_of(choice.protocol)];
  if (!buffer) return Bytes(0);
  const std::int64_t slot = buffer->count() / kSlots;
  switch (choice.protocol) {
    case Protocol::kLl: return Bytes(slot / 2);
    case Protocol::kLl128: return Bytes(slot * 120 / 128);
    case Protocol::kSimple: return Bytes(slot);
  }
  return Bytes(0);
}

// RCCL checks its algorithm files before its cost model, unless the user has named an algorithm or protocol.
std::optional<CollectivePlan> all_pairs(const NcclSetup& setup, const CollectiveCall& call) {
  const RcclAllPairs& pairs = setup.tables.rccl.all_pairs;
  const std::int64_t bytes = call.bytes.count();
  if (call.kind != CollectiveKind::kAllReduce || call.layout->host_count() > 1 || call.size() != pairs.members)
    return {};
  const NcclKnobs untouched;
  if (setup.knobs.algorithms != untouched.algorithms || setup.knobs.protocols != untouched.protocols) return {};
  if (bytes < pairs.from || bytes > pairs.up_to) return {};
  return CollectivePlan{.algorithm = "all_pairs",
                        .protocol = bytes <= pairs.ll_up_to ? Protocol::kLl : Protocol::kSimple,
                        .channels = bytes <= pairs.few_up_to ? pairs.few_blocks : pairs.blocks,
                        .threads = 512};
}

// Each channel that the search found has its own path; further channels start over at the first path.
int kinds_of(int channels, int found) {
  return channels > found && channels % found == 0 ? found : channels;
}

// How rings and chains pass through hosts: as in the graph file, as found by the search, or, if unknown, so that all
// NVLink pairs carry equal load. Inside one host any order works, unless GPUs are connected pairwise or a file sets
// one.
HostPaths paths_of(const NcclSetup& setup, const NcclCostModel& costs, NcclAlgorithm algorithm,
                   const GroupLayout& layout, int channels) {
  const NcclGraphs& graphs = costs.graphs();
  const bool mesh = setup.host.weakest_of(layout).links == NcclHost::Links::kMesh && layout.largest_host > 2;
  if (layout.host_count() > 1 || mesh || setup.graph) {
    HostPaths paths = host_paths(setup.host, graphs, algorithm, layout, channels);
    if (!paths.paths.empty()) return paths;
  }
  HostPaths paths;
  const int kinds = kinds_of(channels, std::max(1, graphs.ring.channels));
  for (std::vector<int>& ring_order : find_ring_orders(setup.host.weakest_of(layout), layout, kinds)) {
    if (paths.paths.empty()) paths.paths.emplace_back();
    paths.paths.front().push_back({.order = std::move(ring_order)});
  }
  return paths;
}

}  // namespace

NcclCostModel NcclSelector::model(const GroupLayout& layout) const {
  return NcclCostModel(setup_.tables, setup_.host, setup_.knobs, layout, setup_.graph ? &*setup_.graph : nullptr,
                       cache_);
}

NcclGraphs NcclSelector::graphs(const GroupLayout& layout) const {
  return model(layout).graphs();
}

CollectivePlan NcclSelector::plan(const CollectiveCall& call) const {
  if (call.size() < 2) return CollectivePlan{.algorithm = "ring"};
  const NcclCostModel costs = model(*call.layout);
  if (call.kind == CollectiveKind::kAllToAll) {
    const NcclExchange exchange = share_out_exchange(costs, setup_.host.weakest_of(*call.layout), setup_.knobs, call);
    return {.algorithm = "p2p",
            .protocol = exchange.protocol,
            .channels = exchange.channels,
            .threads = 512,
            .chunk = exchange.chunk,
            .message_channels = exchange.of_message,
            .pxn = uses_pxn(setup_, *call.layout)};
  }
  if (auto plan = all_pairs(setup_, call)) return *plan;
  const std::vector<NcclCost> all = costs.costs(call);
  // Variables leave nothing: older versions then keep the ring, with the protocols that are left ("Never disable ring
  // for non-allreduce operations" in src/graph/tuning.cc).
  if (std::ranges::none_of(all, usable)) return plan_with(call, NcclAlgorithm::kRing);
  return plan_for(call, costs, choose(setup_, call, all));
}

bool NcclSelector::leaves_nothing(const CollectiveCall& call) const {
  if (call.size() < 2 || call.kind == CollectiveKind::kAllToAll) return false;
  return std::ranges::none_of(model(*call.layout).costs(call), usable);
}

CollectivePlan NcclSelector::plan_with(const CollectiveCall& call, NcclAlgorithm algorithm) const {
  if (call.size() < 2) return CollectivePlan{.algorithm = std::string(to_string(algorithm))};
  NcclKnobs knobs = setup_.knobs;  // the algorithm given here overrides NCCL_ALGO
  knobs.algorithms[index_of(call.kind)].fill(false);
  knobs.algorithms[index_of(call.kind)][index_of(algorithm)] = true;
  const NcclCostModel costs(setup_.tables, setup_.host, knobs, *call.layout, setup_.graph ? &*setup_.graph : nullptr,
                            cache_);
  NcclChoice choice = cheapest(costs.costs(call));
  choice.algorithm = algorithm;  // Simple, which all algorithms support, where the cost model rules out every protocol
  return plan_for(call, costs, choice);
}

CollectivePlan NcclSelector::plan_for(const CollectiveCall& call, const NcclCostModel& costs,
                                      const NcclChoice& choice) const {
  const NcclWork work = share_out(costs, setup_.host.weakest_of(*call.layout), setup_.knobs, call, choice);
  HostPaths through = paths_of(setup_, costs, choice.algorithm, *call.layout, work.channels);
  Bytes chunk = chunk_of(setup_.knobs, choice);
  const bool simple_tree = choice.algorithm == NcclAlgorithm::kTree && choice.protocol == Protocol::kSimple;
  if (simple_tree && setup_.tables.tree.chunks_by_depth) chunk = tree_chunk_by_depth(call, work.channels, chunk);
  if (choice.algorithm == NcclAlgorithm::kNvlsTree && setup_.tables.nvls.large_tree_chunks && chunk == Bytes(0)) {
    chunk = nvls_tree_chunk_of_old(call, work.channels);
  }
  const bool direct = choice.algorithm == NcclAlgorithm::kCollnetDirect;
  const NcclHost& host = setup_.host.weakest_of(*call.layout);
  // On one host without NVLink a tree's chain crosses the sockets once; a ring sends half as much again over them.
  const bool over_pcie = host.links == NcclHost::Links::kPcie || !setup_.knobs.peer_to_peer;
  const bool chain = choice.algorithm == NcclAlgorithm::kTree && call.layout->host_count() == 1 && over_pcie;
  const bool ordered = chain || (!through.paths.empty() && (host.links == NcclHost::Links::kMesh || setup_.graph));
  const bool spreads_nics = call.layout->host_count() > 1 && spread_over_nics(through, setup_.host, *call.layout);
  return {.algorithm = std::string(to_string(choice.algorithm)),
          .protocol = choice.protocol,
          .channels = work.channels,
          .threads = work.threads,
          .chunk = chunk,
          .grain = setup_.tables.channels.chunks_by_threads ? chunk_grain(call.kind, choice, work.threads) : Bytes(0),
          .paths = std::move(through.paths),
          .kind_of_host = std::move(through.kind_of_host),
          .ordered = ordered,
          .spreads_nics = spreads_nics,
          .heads = direct ? std::min(host.nics, call.layout->largest_host) : 0};
}

CollectivePlan NcclSelector::plan_message(const MessageCall& call) const {
  const NcclHost& host = setup_.host.weakest_of(*call.layout);
  const NcclExchange send = share_out_message(model(*call.layout), host, setup_.knobs, call);
  CollectivePlan plan{.algorithm = "send",
                      .protocol = send.protocol,
                      .channels = send.channels,
                      .threads = 512,
                      .chunk = send.chunk,
                      .pxn = uses_pxn(setup_, *call.layout)};
  plan.pxn = message_route_kind(*call.layout, plan, call.from, call.to) == RouteKind::kPxn;
  return plan;
}

std::vector<NcclOption> NcclSelector::options(const CollectiveCall& call) const {
  std::vector<NcclOption> options;
  if (call.size() < 2) return options;
  const NcclCostModel costs = model(*call.layout);
  for (const NcclCost& cost : costs.costs(call)) {
    const NcclChoice choice{.algorithm = cost.algorithm, .protocol = cost.protocol};
    const NcclWork work = share_out(costs, setup_.host.weakest_of(*call.layout), setup_.knobs, call, choice);
    options.push_back({.cost = cost, .channels = work.channels, .threads = work.threads});
  }
  std::stable_sort(options.begin(), options.end(), [](const NcclOption& a, const NcclOption& b) {
    if (usable(a.cost) != usable(b.cost)) return usable(a.cost);
    return usable(a.cost) && a.cost.time_us < b.cost.time_us;
  });
  return options;
}

std::vector<NcclOption> nccl_cost(const NcclSetup& setup, const CollectiveCall& call, NcclGraphCache* graphs) {
  return NcclSelector(setup, graphs).options(call);
}

}  // namespace ringwright::collectives
