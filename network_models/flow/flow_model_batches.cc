// Flow model: batches of repeats, which simulate all repetitions of a transfer at once while no other flow uses their
// links.
#include <algorithm>

#include "network_models/flow/flow_model.h"

namespace ringwright::network_models {

bool FlowModel::may_start_batch(FlowSlot flow) const {
  const Row& row = rows_[flow];
  if (row.repeats < 2 || row.bytes <= 0.0 || shares_.route(flow).empty() || !shares_.route_is_empty(flow)) return false;
  const auto free = [this](const LinkShare& hop) { return batch_on_[hop.link] == kNoBatch; };
  return options_.fast_forward == FastForward::kOn && shares_.rate_alone(flow) > 0.0 &&
         std::ranges::all_of(shares_.route(flow), free);
}

void FlowModel::join_batch(FlowSlot flow) {
  Row& row = rows_[flow];
  row.batched = true;
  row.settled = engine_.now();
  row.rate = shares_.rate_alone(flow);
  row.period = row.latency + from_seconds(row.bytes / row.rate);
  for (const LinkShare& hop : shares_.route(flow)) {
    batch_on_[hop.link] = flow;
    meters_.watch(hop.link, engine_.now());
  }
  ends_.set(flow, engine_.now() + row.period * row.repeats);
  fast_forwarded_ += row.repeats;
}

// Books the work of the batch and frees its links.
void FlowModel::leave_rails(FlowSlot flow, std::uint32_t repeats_done) {
  Row& row = rows_[flow];
  for (const LinkShare& hop : shares_.route(flow)) {
    batch_on_[hop.link] = kNoBatch;
    meters_.carry(hop.link, hop.share * row.bytes * repeats_done);
    meters_.add_busy(hop.link, (row.period - row.latency) * repeats_done);
  }
  row.batched = false;
}

bool FlowModel::set_aside(std::span<const LinkId> links, TimePoint until) {
  const auto has_batch = [this](LinkId link) { return batch_on_[link.index()] != kNoBatch; };
  return std::ranges::none_of(links, has_batch) && meters_.set_aside(links, engine_.now(), until);
}

// Another flow enters: the batch continues as an ordinary flow from its current position.
void FlowModel::split_batch(FlowSlot flow) {
  Row& row = rows_[flow];
  const Duration travelled = engine_.now() - row.settled;
  // Few bytes on a fast path without latency take less than the clock's resolution: no time at all for any number of
  // repeats.
  if (row.period == Duration()) return;
  const auto done = static_cast<std::uint32_t>(travelled.count() / row.period.count());
  if (done == row.repeats) return;  // it ends at this instant and is about to be notified
  const Duration phase = travelled - row.period * done;
  leave_rails(flow, done);
  row.repeats -= done;
  fast_forwarded_ -= row.repeats;
  if (phase < row.latency) {
    row.settled = engine_.now() - phase;
    ends_.set(flow, engine_.now() + (row.latency - phase));
    return;
  }
  ends_.erase(flow);
  for (const LinkShare& hop : shares_.route(flow)) meters_.add_busy(hop.link, phase - row.latency);
  row.settled = engine_.now() - (phase - row.latency);
  row.remaining = row.bytes;
  row.remaining = remaining_now(row);
  row.settled = engine_.now();
  stream(flow);
}

}  // namespace ringwright::network_models
