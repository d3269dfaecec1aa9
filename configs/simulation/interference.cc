// NCCL runs one thread block per channel, which occupies a multiprocessor (src/enqueue.cc: grid = channels); a message
// between two ranks uses half of the channels of an exchange between them, the other half receives.
//
// Device memory per byte on a wire: a copy reads and writes once, a reduction reads twice and writes once; an
// all-reduce does one half of each.
#include "configs/simulation/interference.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace ringwright::configs {
namespace {

// The narrowest link between two ranks.
double rate_of_path(const Router& router, const RouteQuery& query) {
  std::vector<Hop> path;
  router.route(query, path);
  double rate = std::numeric_limits<double>::max();
  for (const Hop& hop : path) rate = std::min(rate, router.capacities()[hop.link.index()].count() / hop.share);
  return path.empty() ? 0.0 : rate;
}

}  // namespace

GpuFootprint::GpuFootprint(const Inputs& inputs)
    : inputs_(inputs),
      wires_(inputs.graph, inputs.router),
      pair_inside_(make_block_layout(2, 2)),
      pair_between_(make_block_layout(2, 1)) {}

CollectivePlan GpuFootprint::plan(const CollectiveCall& call) const {
  return inputs_.channels != nullptr ? inputs_.channels->chooser.choose(call).plan : inputs_.tuner.plan(call);
}

// Of one member, in one direction: members of a host forward the ring's data to each other at the rate of its slowest
// hop.
double GpuFootprint::wire_rate(const CollectiveCall& call) const {
  const collectives::WireCosts wires = wires_(call);
  if (call.layout->host_count() == 1) return wires.inside.bandwidth.count();
  const double outward = wires.host_outward.count();
  return call.layout->largest_host > 1 ? std::min(wires.inside.bandwidth.count(), outward) : outward;
}

// A small number of channels does not saturate the wires.
double GpuFootprint::rate_of(const CollectivePlan& plan, double wires) const {
  if (inputs_.channels == nullptr) return wires;
  return std::min(wires, plan.channels * inputs_.channels->costs.of(plan.protocol).rate.count());
}

double GpuFootprint::bytes_per_byte(CollectiveKind kind) const {
  const InterferenceSettings& settings = inputs_.settings;
  switch (kind) {
    case CollectiveKind::kAllReduce: return (settings.bytes_per_copied + settings.bytes_per_reduced) / 2.0;
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kReduce: return settings.bytes_per_reduced;
    case CollectiveKind::kAllGather:
    case CollectiveKind::kAllToAll:
    case CollectiveKind::kBroadcast: return settings.bytes_per_copied;
  }
  return 0.0;
}

Contention GpuFootprint::of(const CollectiveCall& call) const {
  if (call.size() < 2) return {};
  const auto [entry, is_new] =
      known_.try_emplace(Key(call.layout, call.dimension.value, call.kind, call.bytes.count()));
  if (is_new) {
    const CollectivePlan chosen = plan(call);
    entry->second = {.sms = chosen.channels * inputs_.settings.sms_per_channel,
                     .memory = Bandwidth(rate_of(chosen, wire_rate(call)) * bytes_per_byte(call.kind)),
                     .copies = {}};
  }
  return entry->second;
}

Contention GpuFootprint::of(const MessageSpec& message, DimensionId dimension, RankId rank) const {
  const Dimension& of = inputs_.graph.dimensions[dimension.index()];
  const std::vector<RankId>& group = of.groups[of.group_of[rank.index()]];
  const GroupLayout& layout = inputs_.graph.layouts[of.layout_of_group[of.group_of[rank.index()]]];
  const auto own = static_cast<std::size_t>(of.index_in_group[rank.index()]);
  const auto peer = static_cast<std::size_t>(message.peer_of(static_cast<int>(own), group.size()));
  const RouteQuery query{.from = rank, .to = group[peer],
                         .route_kind = route_kind_of(message.path), .label = message_label(dimension, message.channel)};
  // Copy engines occupy no multiprocessors.
  if (message.path != DmaPath::kNone) {
    return message.path == DmaPath::kWithinMemory ? Contention{}
                                                 : Contention{.copies = Bandwidth(rate_of_path(inputs_.router, query))};
  }
  // An agent's message is read by the NIC.
  if (message.moved_by == MovedBy::kAgent) return {.copies = Bandwidth(rate_of_path(inputs_.router, query))};
  const bool one_host = layout.host_of[own] == layout.host_of[peer];
  const CollectiveCall exchange{.kind = CollectiveKind::kAllToAll, .bytes = message.bytes * 2,
                                .layout = one_host ? &pair_inside_ : &pair_between_, .dimension = dimension};
  CollectivePlan half = inputs_.tuner.plan(exchange);
  half.channels = std::max(half.channels / 2, 1);
  return {.sms = half.channels * inputs_.settings.sms_per_channel,
          .memory = Bandwidth(rate_of(half, rate_of_path(inputs_.router, query)) * inputs_.settings.bytes_per_copied),
          .copies = {}};
}

}  // namespace ringwright::configs
