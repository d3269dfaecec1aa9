// Flow model: what happens to flows on their way when links change their capacity and routers their ways.
#include "network_models/flow/flow_model.h"

namespace ringwright::network_models {

void FlowModel::set_capacity(LinkId link, Bandwidth capacity) {
  if (train_on_[link.index()] != kNoTrain) derail(train_on_[link.index()]);
  shares_.set_capacity(link, capacity);
  expect_end_of_instant();
}

void FlowModel::take_new_ways() {
  reroute_due_ = false;
  for (FlowSlot flow = 0; flow < rows_.size(); ++flow) {
    if (rows_[flow].repeats == 0) continue;  // a free slot
    if (rows_[flow].train) derail(flow);
    // Where the latency is being paid it stays that of the old way; repetitions to come pay the new one.
    const Duration latency = find_way(rows_[flow].query, rows_[flow].copies);
    if (rows_[flow].pays_latency) rows_[flow].latency = latency;
    if (!shares_.is_way(flow, way_)) change_way(flow);
  }
}

// The bytes that have arrived stay with the old links, the rest goes over the new ones (`way_`).
void FlowModel::change_way(FlowSlot flow) {
  Row& row = rows_[flow];
  const double moved = row.moving ? row.bytes - remaining_now(row) : 0.0;
  for (const LinkShare& hop : shares_.way(flow)) {
    meters_.carry(hop.link, hop.share * moved);
    if (row.moving) meters_.leave(hop.link, engine_.now());
  }
  if (row.moving) shares_.leave(flow);
  shares_.place(flow, way_, shares_.priority(flow));
  if (!row.moving) return;
  for (const LinkShare& hop : shares_.way(flow)) meters_.carry(hop.link, -hop.share * moved);  // finish() books all
  row.remaining = row.bytes - moved;
  row.settled = engine_.now();
  row.rate = 0.0;
  ends_.erase(flow);
  stream(flow);
}

}  // namespace ringwright::network_models
