#include "network_models/flow/flow_batches.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ringwright::network_models {

bool FlowBatches::is_any_on(std::span<const LinkId> links) const {
  return std::ranges::any_of(links, [this](LinkId link) { return on(link.value) != kNone; });
}

bool FlowBatches::is_free(FlowSlot flow, double rate) const {
  const std::span<const LinkShare> route = state_.shares.route(flow);
  return !route.empty() && rate > 0.0 && state_.meters.are_free(route);
}

bool FlowBatches::is_worth_trying(const FlowRow& row) {
  if (row.repeats >= 2 || credit_ >= 0) return true;
  if (++paused_ % kPause == 0) ++credit_;
  return false;
}

bool FlowBatches::claim(FlowSlot flow) {
  const std::span<const LinkShare> route = state_.shares.route(flow);
  for (std::size_t i = 0; i < route.size(); ++i) {
    if (on(route[i].link) == kNone) {
      state_.meters.owner(route[i].link) = flow;
      state_.meters.watch(route[i].link, state_.engine.now());
      continue;
    }
    for (const LinkShare& hop : route.first(i)) state_.meters.owner(hop.link) = kNone;
    return false;
  }
  return true;
}

void FlowBatches::release(FlowSlot flow) {
  for (const LinkShare& hop : state_.shares.route(flow)) state_.meters.owner(hop.link) = kNone;
}

bool FlowBatches::claim(std::span<const LinkId> links, FlowSlot owner) {
  const auto free = [this](LinkId link) { return state_.meters.is_free(link.value); };
  if (!std::ranges::all_of(links, free)) return false;
  for (const LinkId link : links) {
    state_.meters.owner(link.value) = owner;
    state_.meters.watch(link.value, state_.engine.now());
  }
  return true;
}

void FlowBatches::release(std::span<const LinkId> links) {
  for (const LinkId link : links) state_.meters.owner(link.value) = kNone;
}

// Flows over one path mostly have the same size, and their rows keep its time.
void FlowBatches::find_time_alone(FlowSlot flow) {
  FlowRow& row = state_.flows[flow];
  const std::uint32_t capacities = state_.shares.capacities_number();
  if (row.rated != capacities) row.alone.rate = state_.shares.rate_alone(flow);
  row.rated = capacities;
  row.alone.bytes = row.bytes;
  row.alone.time = row.alone.rate > 0.0 ? moving_time(row.bytes, row.alone.rate) : Duration();
}

bool FlowBatches::try_start(FlowSlot flow) {
  FlowRow& row = state_.flows[flow];
  if (!is_fast() || row.bytes <= 0.0 || row.in_exchange || !is_worth_trying(row)) return false;
  const std::span<const LinkShare> route = state_.shares.route(flow);
  if (route.empty() || !state_.meters.are_free(route)) return false;
  const bool known = row.rated == state_.shares.capacities_number() && std::abs(row.alone.bytes - row.bytes) <= 0.0;
  if (!known) find_time_alone(flow);
  if (row.alone.rate <= 0.0) return false;
  const TimePoint now = state_.engine.now();
  row.batched = true;
  row.lone = row.repeats < 2;
  row.settled = now;
  row.rate = row.alone.rate;
  state_.meters.own(route, flow, row.lone ? now + row.latency : now);
  state_.ends.set(flow, row.lone ? now + row.period() : now + row.period() * row.repeats);
  if (!row.lone) fast_forwarded_ += row.repeats;
  return true;
}

void FlowBatches::end(FlowSlot flow) {
  FlowRow& row = state_.flows[flow];
  if (row.lone) return end_lone(flow);
  free_links(flow, row.repeats);
  row.repeats = 1;
}

// Books the work of the batch.
void FlowBatches::free_links(FlowSlot flow, std::uint32_t repeats_done) {
  FlowRow& row = state_.flows[flow];
  for (const LinkShare& hop : state_.shares.route(flow)) {
    state_.meters.owner(hop.link) = kNone;
    state_.meters.carry(hop.link, hop.share * row.bytes * repeats_done);
    state_.meters.add_busy(hop.link, row.alone.time * repeats_done);
  }
  row.batched = false;
}

bool FlowBatches::split(FlowSlot flow) {
  FlowRow& row = state_.flows[flow];
  const TimePoint now = state_.engine.now();
  const Duration travelled = now - row.settled;
  // Few bytes on a fast path without latency take less than the clock's resolution: no time at all for any number of
  // repeats.
  const Duration period = row.period();
  if (period == Duration()) return false;
  const auto done = static_cast<std::uint32_t>(travelled.count() / period.count());
  if (done == row.repeats) return false;  // it ends at this instant and is about to be notified
  const Duration phase = travelled - period * done;
  free_links(flow, done);
  row.repeats -= done;
  const bool was_lone = std::exchange(row.lone, false);
  if (was_lone) {
    credit_ -= kSplitCost;
  } else {
    fast_forwarded_ -= row.repeats;
  }
  if (phase < row.latency) {
    if (was_lone) row.rate = 0.0;
    row.settled = now - phase;
    state_.ends.set(flow, now + (row.latency - phase));
    return false;
  }
  for (const LinkShare& hop : state_.shares.route(flow)) state_.meters.add_busy(hop.link, phase - row.latency);
  row.settled = now - (phase - row.latency);
  row.remaining = row.bytes;
  row.resumed = true;
  state_.ends.set(flow, row.settled + moving_time(row.remaining, row.rate));
  return true;
}

FlowRow FlowBatches::unbatched(FlowSlot flow) const {
  FlowRow row = state_.flows[flow];
  row.batched = false;
  row.moving = state_.engine.now() - row.settled >= row.latency;
  if (row.moving) {
    row.settled = row.settled + row.latency;
  } else {
    row.rate = 0.0;
  }
  return row;
}

void FlowBatches::add_to(std::vector<LinkUsage>& usage, FlowSlot flow) const {
  const FlowRow& row = state_.flows[flow];
  const Duration period = row.period();
  if (period == Duration()) return;  // it ends at this instant, and its bytes count then
  const Duration travelled = state_.engine.now() - row.settled;
  const std::int64_t done = travelled.count() / period.count();
  const Duration moving = std::max(travelled - period * done - row.latency, Duration());
  const double bytes = row.bytes * static_cast<double>(done) + std::min(row.rate * to_seconds(moving), row.bytes);
  for (const LinkShare& hop : state_.shares.route(flow)) {
    usage[hop.link].bytes += hop.share * bytes;
    usage[hop.link].busy += row.alone.time * done + moving;
  }
}

}  // namespace ringwright::network_models
