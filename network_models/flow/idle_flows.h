// Flows that have ended and keep their rows: the next flow over the same path takes the row, with its place on the
// links and what it knows of the path.
//
// One for each path that is known (RouteCache) and has been taken before, so that there are few rows more than flows in
// flight, and none where paths are taken once.
#pragma once

#include <span>
#include <utility>

#include "core/ports/network_model.h"
#include "network_models/flow/flow_state.h"
#include "network_models/flow/route_cache.h"

namespace ringwright::network_models {

class IdleFlows {
 public:
  static constexpr FlowSlot kNone = RouteCache::kNoFlow;

  IdleFlows(FlowState& state, RouteCache& routes) : state_(state), routes_(routes) {}

  // One over the route that does for this transfer, in flight from now on; kNone: there is none.
  [[nodiscard]] FlowSlot take(RouteCache::Route& route, const Transfer& transfer) {
    const FlowSlot flow = std::exchange(route.idle, kNone);
    if (flow == kNone) return kNone;
    if (state_.flows[flow].copies != transfer.copies || !state_.shares.is_of(flow, transfer.priority)) [[unlikely]] {
      return discard(flow);
    }
    state_.flows.take_resting(flow, transfer.repeats);
    return flow;
  }
  // A new one.
  [[nodiscard]] FlowSlot make(RouteCache::Route& route, const Transfer& transfer, std::span<const Hop> hops);
  // The flow has ended.
  void end(FlowSlot flow) {
    state_.flows.rest();
    RouteCache::Route* const route = routes_.known(state_.flows[flow].route);
    if (route != nullptr && route->idle == kNone) [[likely]] {
      route->idle = flow;
      return;
    }
    discard(flow);
  }

 private:
  FlowSlot discard(FlowSlot flow);

  FlowState& state_;
  RouteCache& routes_;
};

}  // namespace ringwright::network_models
