// Flow model: flows in flight when links change their capacity and routers their paths.
#include "network_models/flow/flow_model.h"

namespace ringwright::network_models {

void FlowModel::set_capacity(LinkId link, Bandwidth capacity) {
  if (batch_on_[link.index()] != kNoBatch) split_batch(batch_on_[link.index()]);
  shares_.set_capacity(link, capacity);
  expect_end_of_instant();
}

void FlowModel::take_new_routes() {
  reroute_due_ = false;
  for (FlowSlot flow = 0; flow < rows_.size(); ++flow) {
    if (rows_[flow].repeats == 0) continue;  // a free slot
    if (rows_[flow].batched) split_batch(flow);
    // A latency being paid stays that of the old path; later repetitions pay the new one.
    const Duration latency = find_route(rows_[flow].query, rows_[flow].copies);
    if (rows_[flow].pays_latency) rows_[flow].latency = latency;
    if (!shares_.is_route(flow, route_)) change_route(flow);
  }
}

// The bytes that have arrived stay with the old links, the rest goes over the new ones (`route_`).
void FlowModel::change_route(FlowSlot flow) {
  Row& row = rows_[flow];
  const double moved = row.moving ? row.bytes - remaining_now(row) : 0.0;
  for (const LinkShare& hop : shares_.route(flow)) {
    meters_.carry(hop.link, hop.share * moved);
    if (row.moving) meters_.leave(hop.link, engine_.now());
  }
  if (row.moving) shares_.leave(flow);
  shares_.place(flow, route_, shares_.priority(flow));
  if (!row.moving) return;
  for (const LinkShare& hop : shares_.route(flow)) meters_.carry(hop.link, -hop.share * moved);  // finish() books all
  row.remaining = row.bytes - moved;
  row.settled = engine_.now();
  row.rate = 0.0;
  ends_.erase(flow);
  stream(flow);  // a stalled flow keeps its stall time if the new path is blocked too
}

// NICs retransmit unacknowledged data; within a host nothing waits for an acknowledgement, and low priority has to wait
// for high.
bool FlowModel::may_be_given_up(const Row& row) const {
  const RouteQuery& query = row.query;
  return options_.patience > Duration() && !stays_in_host(query.route_kind) &&
         query.from.value / options_.ranks_per_host != query.to.value / options_.ranks_per_host;
}

void FlowModel::stand_still(FlowSlot flow) {
  Row& row = rows_[flow];
  if (!may_be_given_up(row) || shares_.priority(flow) == Priority::kLow) return ends_.erase(flow);
  if (!row.stands) row.stands_since = engine_.now();
  row.stands = true;
  ends_.set(flow, row.stands_since + options_.patience);
}

// A flow that enters a link without capacity has no rate before and none after.
void FlowModel::look_at_entered() {
  for (const FlowSlot flow : entered_) {
    const Row& row = rows_[flow];
    if (row.moving && row.remaining > 0.0 && row.rate <= 0.0) stand_still(flow);
  }
  entered_.clear();
}

// Of several at one instant the one started first. Then the run stops.
void FlowModel::give_up(FlowSlot flow) {
  const Row& row = rows_[flow];
  if (given_up_ && order_given_up_ < row.order) return;
  order_given_up_ = row.order;
  given_up_ = GivenUp{.from = row.query.from, .to = row.query.to, .link = {}, .since = row.stands_since};
  for (const LinkShare& hop : shares_.route(flow)) {
    if (!shares_.carries(hop.link)) {
      given_up_->link = LinkId(hop.link);
      break;
    }
  }
  engine_.stop_after_instant();
}

}  // namespace ringwright::network_models
