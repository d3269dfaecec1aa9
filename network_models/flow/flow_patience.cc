#include "network_models/flow/flow_patience.h"

namespace ringwright::network_models {

bool FlowPatience::may_be_given_up(FlowSlot flow) const {
  const RouteQuery& query = state_.flows.query(flow);
  return patience_ > Duration() && state_.shares.priority(flow) != Priority::kLow &&
         !stays_in_host(query.route_kind) && query.from.value / ranks_per_host_ != query.to.value / ranks_per_host_;
}

void FlowPatience::stand_still(FlowSlot flow) {
  FlowRow& row = state_.flows[flow];
  if (!may_be_given_up(flow)) return state_.ends.erase(flow);
  if (!row.stands) row.stands_since = state_.engine.now();
  row.stands = true;
  state_.ends.set(flow, row.stands_since + patience_);
}

// A flow that enters a link without capacity has no rate before and none after.
void FlowPatience::look() {
  for (const FlowSlot flow : entered_) {
    const FlowRow& row = state_.flows[flow];
    if (row.moving && row.remaining > 0.0 && row.rate <= 0.0) stand_still(flow);
  }
  entered_.clear();
}

// Of several at one instant the one started first. Then the run stops.
void FlowPatience::give_up(FlowSlot flow) {
  const FlowRow& row = state_.flows[flow];
  if (given_up_ && order_given_up_ < row.order) return;
  order_given_up_ = row.order;
  const RouteQuery& query = state_.flows.query(flow);
  given_up_ = GivenUp{.from = query.from, .to = query.to, .link = {}, .since = row.stands_since};
  for (const LinkShare& hop : state_.shares.route(flow)) {
    if (!state_.shares.carries(hop.link)) {
      given_up_->link = LinkId(hop.link);
      break;
    }
  }
  state_.engine.stop_after_instant();
}

}  // namespace ringwright::network_models
