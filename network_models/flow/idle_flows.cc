#include "network_models/flow/idle_flows.h"

#include <utility>

#include "network_models/flow/transfer_query.h"

namespace ringwright::network_models {

FlowSlot IdleFlows::make(RouteCache::Route& route, const Transfer& transfer, std::span<const Hop> hops) {
  routes_.take_stranded([this](FlowSlot stranded) { discard(stranded); });
  const FlowSlot flow = state_.flows.take(transfer.repeats);
  state_.shares.place(flow, hops, transfer.priority);
  if (std::exchange(route.taken, true)) state_.flows[flow].route = route.number;
  state_.flows[flow].copies = transfer.copies;
  state_.flows.query(flow) = query_of(transfer);
  return flow;
}

// Of one that is in flight no more. Returns that there is none.
FlowSlot IdleFlows::discard(FlowSlot flow) {
  state_.shares.forget(flow);
  state_.flows.free(flow);
  return kNone;
}

}  // namespace ringwright::network_models
