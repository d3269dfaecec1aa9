#include "network_models/flow/flow_model.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>

#include "core/base/random.h"
#include "network_models/flow/transfer_query.h"

namespace ringwright::network_models {

std::unique_ptr<NetworkModel> make_flow(const ModelInputs& inputs);

void FlowModel::start(const Transfer& transfer, TransferListener& listener) {
  RouteCache::Route& route = routes_.known().find(query_of(transfer));
  FlowSlot flow = idle_.take(route, transfer);
  if (flow == IdleFlows::kNone) {
    routes_.take_hops(route, transfer.copies);
    flow = idle_.make(route, transfer, routes_.hops());
  }
  FlowRow& row = state_.flows.begin(flow, state_.engine.now(), listener, transfer.token);
  row.bytes = row.remaining = static_cast<double>(transfer.size.count());
  row.latency = transfer.pays_latency ? route.latency : Duration();
  row.pays_latency = transfer.pays_latency;
  if (!batches_.try_start(flow)) {
    // What enters now meets this instant's solve, together with what leaves at this instant: a message that follows
    // another over its path changes no rate.
    const bool enters = !transfer.pays_latency && row.bytes > 0.0 && !state_.shares.route(flow).empty();
    enters ? begin(flow) : pay_latency(flow);
  }
  expect_end_of_instant();
}

// All its steps as one flow, which pays their latencies first.
void FlowModel::start_coupled(const CoupledTransfer& coupled, TransferListener& listener) {
  const FlowSlot flow = state_.flows.take(1);
  const FlowRoutes::CoupledPath path = routes_.find(coupled, flow);
  state_.shares.place(flow, routes_.hops());
  FlowRow& row = state_.flows.begin(flow, state_.engine.now(), listener, coupled.token);
  row.bytes = row.remaining = path.bytes;
  row.latency = path.latency;
  state_.flows.query(flow) = path.longest;
  set_out(flow);
  expect_end_of_instant();
}

std::optional<std::uint32_t> FlowModel::open_ring(const RingShape& shape) {
  if (!batches_.is_fast()) return std::nullopt;
  return rings_.open(shape);
}

void FlowModel::start_member(RingPlace place, const RingMember& member, TransferListener& listener) {
  std::vector<FlowSlot> flows;
  for (const RingEdge& edge : member.edges) {
    const RouteQuery query{.from = edge.from, .to = edge.to, .nics = edge.nics, .label = edge.label};
    const Duration latency = routes_.find(query, 1);
    const FlowSlot flow = state_.flows.take(member.repeats);
    state_.shares.place(flow, routes_.hops());
    FlowRow& row = state_.flows.begin(flow, state_.engine.now(), listener, member.token);
    row.latency = latency;
    row.in_ring = true;
    state_.flows.query(flow) = query;
    flows.push_back(flow);
  }
  rings_.start(place, member, flows);
  for (const FlowSlot flow : flows) set_out(flow);
  expect_end_of_instant();
}

std::optional<std::uint32_t> FlowModel::open_exchange(const Exchange& exchange) {
  if (!batches_.is_fast()) return std::nullopt;
  return exchanges_.open(exchange);
}

void FlowModel::start_in_exchange(ExchangePlace place, std::uint64_t token, TransferListener& listener) {
  for (const FlowSlot flow : exchanges_.start(place, token, listener)) set_out(flow);
  expect_end_of_instant();
}

// Starts a repetition, or all remaining ones as a batch.
void FlowModel::set_out(FlowSlot flow) {
  if (state_.flows[flow].in_ring) {
    if (rings_.set_out(flow)) return;
  } else if (batches_.try_start(flow)) {
    return;
  }
  pay_latency(flow);
}

void FlowModel::pay_latency(FlowSlot flow) {
  FlowRow& row = state_.flows[flow];
  row.settled = state_.engine.now();
  latency_queues_.push(flow, row.settled, row.latency);
}

void FlowModel::end_instant() {
  if (moves_.take()) take_new_routes();
  const std::span<const FlowSlot> changed = state_.shares.solve();
  for (std::size_t i = 0; i < changed.size(); ++i) {
    if (i + kAhead < changed.size()) state_.prefetch_row(changed[i + kAhead]);
    settle(changed[i]);
  }
  rings_.look();
  patience_.look_at_entered();
  if (largest_error_) largest_error_ = std::max(*largest_error_, state_.shares.largest_error());
  wake_up_next();
}

// The flow has a new rate from now on. Without one it stalls; an end beyond the clock's range is the clock's end.
void FlowModel::settle(FlowSlot flow) {
  FlowRow& row = state_.flows[flow];
  const TimePoint now = state_.engine.now();
  const double rate = state_.shares.rate(flow);
  const bool keeps = row.resumed && row.rate > 0.0 && std::abs(rate - row.rate) <= kSameRate * row.rate;
  row.resumed = false;
  if (keeps) return;
  row.remaining = row.remaining_at(now);
  row.settled = now;
  row.rate = rate;
  if (row.remaining > 0.0 && row.rate <= 0.0) return patience_.stand_still(flow);
  row.stands = false;
  state_.ends.set(flow, now + (row.remaining > 0.0 ? moving_time(row.remaining, row.rate) : Duration()));
}

void FlowModel::wake_up_next() {
  events_.wake_at(std::min(latency_queues_.earliest(), state_.ends.earliest()), [this] { wake(); });
}

void FlowModel::wake() {
  const TimePoint now = state_.engine.now();
  instant_.again.clear();
  instant_.due.clear();
  if (latency_queues_.earliest() == now) {
    latency_queues_.pop_earliest(instant_.due);
    for (const FlowSlot flow : instant_.due) {
      if (!state_.flows[flow].in_ring || rings_.is_due(flow)) begin(flow);
    }
  }
  instant_.due.clear();
  if (state_.ends.earliest() == now) {
    state_.ends.pop_earliest(instant_.due);
    const std::vector<FlowSlot>& due = instant_.due;
    for (std::size_t i = 0; i < due.size(); ++i) {
      if (i + 2 * kAhead < due.size()) state_.prefetch_row(due[i + 2 * kAhead]);
      if (i + kAhead < due.size()) state_.prefetch_route(due[i + kAhead]);
      state_.flows[due[i]].lone ? end_lone(due[i]) : end_wait(due[i]);
    }
  }
  for (const FlowSlot flow : instant_.again) set_out(flow);
  expect_end_of_instant();
  instant_.arrivals.notify();
}

// Its end, or what else it was waiting for among the ends: a split batch the rest of its latency, a stalled flow the
// end of patience.
void FlowModel::end_wait(FlowSlot flow) {
  const FlowRow& row = state_.flows[flow];
  if (row.stands) return patience_.give_up(flow);
  row.moving || row.batched ? finish(flow) : begin(flow);
}

// The most frequent case of end_wait: a transfer without repeats that met no other.
void FlowModel::end_lone(FlowSlot flow) {
  FlowRow& row = state_.flows[flow];
  batches_.end_lone(flow);
  row.repeats = 0;
  if (row.route == 0) routes_.forget(flow);
  instant_.arrivals.add({.order = row.order, .listener = row.listener, .token = row.token});
  idle_.end(flow);
}

void FlowModel::begin(FlowSlot flow) {
  FlowRow& row = state_.flows[flow];
  if (row.bytes <= 0.0 || state_.shares.route(flow).empty()) {
    end_repetition(flow);
    return;
  }
  row.remaining = row.bytes;
  row.settled = state_.engine.now();
  stream(flow);
}

// Enters the links, now or (a split batch) in the middle of its bytes.
void FlowModel::stream(FlowSlot flow) {
  state_.flows[flow].moving = true;
  const std::size_t hops = state_.shares.route(flow).size();
  for (std::size_t hop = 0; hop < hops; ++hop) {
    const std::uint32_t link = state_.shares.route(flow)[hop].link;  // routes move when a split exchange makes flows
    const FlowSlot batch = batches_.on(link);
    if (batch != FlowBatches::kNone) split_batch(batch);
    state_.meters.enter(link, state_.engine.now());
  }
  state_.shares.enter(flow);
  patience_.note_entered(flow);
}

void FlowModel::split_batch(FlowSlot flow) {
  if (state_.flows[flow].in_exchange) {
    for (const FlowSlot message : exchanges_.split(flow)) stream(message);
    return;
  }
  if (!state_.flows[flow].in_ring) {
    if (batches_.split(flow)) stream(flow);
    return;
  }
  for (const FlowSlot of_ring : rings_.split(flow)) stream(of_ring);
}

void FlowModel::finish(FlowSlot flow) {
  FlowRow& row = state_.flows[flow];
  if (row.batched && row.in_exchange) return exchanges_.end(flow, instant_.arrivals);
  if (row.batched && row.in_ring) return rings_.end(flow, instant_.again, instant_.arrivals);
  if (row.batched) {
    batches_.end(flow);
    end_repetition(flow);
    return;
  }
  for (const LinkShare& hop : state_.shares.route(flow)) {
    state_.meters.carry(hop.link, hop.share * row.bytes);
    state_.meters.leave(hop.link, state_.engine.now());
  }
  state_.shares.leave(flow);
  row.moving = false;
  end_repetition(flow);
}

void FlowModel::end_repetition(FlowSlot flow) {
  FlowRow& row = state_.flows[flow];
  if (row.in_ring) return rings_.take_arrival(flow, instant_.again, instant_.arrivals);
  if (row.in_exchange) return exchanges_.take_arrival(flow, instant_.arrivals);
  if (--row.repeats > 0) {
    instant_.again.push_back(flow);
    return;
  }
  routes_.forget(flow);
  instant_.arrivals.add({.order = row.order, .listener = row.listener, .token = row.token});
  idle_.end(flow);
}

bool FlowModel::set_aside(std::span<const LinkId> links, TimePoint until) {
  for (const LinkId link : links) {
    const FlowSlot owner = batches_.on(link.value);
    if (owner == FlowBatches::kNone || !state_.flows[owner].in_ring) continue;
    rings_.give_way(owner);
    expect_end_of_instant();  // its next message may begin before anything that the model has been woken for
  }
  return !batches_.is_any_on(links) && state_.meters.set_aside(links, state_.engine.now(), until);
}

void FlowModel::set_capacity(LinkId link, Bandwidth capacity) {
  for (const FlowSlot message : exchanges_.split_all_over(link)) stream(message);
  const FlowSlot batch = batches_.on(link.value);
  if (batch != FlowBatches::kNone) split_batch(batch);
  state_.shares.set_capacity(link, capacity);
  rings_.forget_rates();
  exchanges_.forget_capacity(link);
  moves_.set_capacity(link, capacity);
  expect_end_of_instant();
}

// Flows move at the end of the instant, when those that end now have ended on their old path.
void FlowModel::reroute() {
  for (const FlowSlot message : exchanges_.split_all()) stream(message);
  exchanges_.forget_routes();
  moves_.note();
  routes_.forget_known();
  expect_end_of_instant();
}

void FlowModel::take_new_routes() {
  routes_.forget_known();
  rings_.forget_rates();
  for (FlowSlot flow = 0; flow < state_.flows.size(); ++flow) {
    FlowRow& row = state_.flows[flow];
    if (row.repeats == 0) continue;                // a free slot
    if (row.batched && row.in_exchange) continue;  // those that were at once before were split
    if (row.batched) split_batch(flow);
    // A latency being paid stays that of the old path; later repetitions pay the new one.
    const Duration latency = routes_.find_again(flow, state_.flows.query(flow), row.copies);
    row.rated = 0;
    if (row.pays_latency) row.latency = latency;
    if (!state_.shares.is_route(flow, routes_.hops())) change_route(flow);
  }
}

// The bytes that have arrived stay with the old links, the rest goes over the new ones (`routes_.hops()`), and with it
// the chunk that a failed NIC leaves without acknowledgement.
void FlowModel::change_route(FlowSlot flow) {
  FlowRow& row = state_.flows[flow];
  PriorityMaxMin& shares = state_.shares;
  LinkMeters& meters = state_.meters;
  const TimePoint now = state_.engine.now();
  const double moved = row.moving ? row.bytes - row.remaining_at(now) : 0.0;
  const double kept = moves_.kept(shares.route(flow), moved);
  for (const LinkShare& hop : shares.route(flow)) {
    meters.carry(hop.link, hop.share * moved);
    if (row.moving) meters.leave(hop.link, now);
  }
  if (row.moving) shares.leave(flow);
  shares.place(flow, routes_.hops(), shares.priority(flow));
  if (!row.moving) return;
  for (const LinkShare& hop : shares.route(flow)) meters.carry(hop.link, -hop.share * kept);  // finish() books all
  row.remaining = row.bytes - kept;
  row.settled = now;
  row.rate = 0.0;
  state_.ends.erase(flow);
  stream(flow);  // a stalled flow keeps its stall time if the new path is blocked too
}

// A sum over flows: the slot of a flow does not matter.
std::optional<std::uint64_t> FlowModel::state_digest() const {
  std::uint64_t sum = 0;
  for (FlowSlot flow = 0; flow < state_.flows.size(); ++flow) {
    if (state_.flows[flow].repeats == 0) continue;  // a free slot
    const FlowRow row = state_.flows[flow].lone ? batches_.unbatched(flow) : state_.flows[flow];
    std::uint64_t state = row.listener->identity(row.token);
    if (!row.in_ring || !rings_.is_foreseen(flow)) {
      state = mix(state, static_cast<std::uint64_t>((state_.engine.now() - row.settled).count()));
      state = mix(state, std::bit_cast<std::uint64_t>(row.remaining));
      state = mix(state, std::bit_cast<std::uint64_t>(row.rate));
      state = mix(state, static_cast<std::uint64_t>(state_.shares.priority(flow)));
      state = mix(state, std::uint64_t{row.repeats} * 4 + (row.moving ? 2 : 0) + (row.batched ? 1 : 0));
    }
    if (row.in_ring) state = mix(state, rings_.phase(flow));
    for (const LinkShare& hop : state_.shares.route(flow)) state = mix(state, hop.link);
    sum += state;
  }
  return sum + exchanges_.digest();
}

std::vector<LinkUsage> FlowModel::usage() const {
  const TimePoint now = state_.engine.now();
  std::vector<LinkUsage> usage = state_.meters.usage(now);
  for (FlowSlot flow = 0; flow < state_.flows.size(); ++flow) {
    const FlowRow& row = state_.flows[flow];
    if (row.batched && !row.in_ring && !row.in_exchange) batches_.add_to(usage, flow);
    if (!row.moving || row.batched) continue;
    const double moved = row.bytes - row.remaining_at(now);
    for (const LinkShare& hop : state_.shares.route(flow)) usage[hop.link].bytes += hop.share * moved;
  }
  rings_.add_to(usage);
  exchanges_.add_to(usage);
  return usage;
}

std::vector<NetworkModel::Counter> FlowModel::counters() const {
  const IncrementalMaxMin::Work work = state_.shares.work();
  const std::uint64_t fast_forwarded =
      batches_.fast_forwarded() + rings_.fast_forwarded() + exchanges_.fast_forwarded();
  std::vector<Counter> counters = {{.name = "flows", .value = state_.flows.started()},
                                   {.name = "most flows at a time", .value = state_.flows.most_in_flight()},
                                   {.name = "solves", .value = work.solves},
                                   {.name = "full solves", .value = work.full_solves},
                                   {.name = "flows re-solved", .value = work.flows_resolved},
                                   {.name = "flows fast-forwarded", .value = fast_forwarded}};
  if (largest_error_) {
    counters.push_back({.name = "largest fairness error (parts in 1e18)",
                        .value = static_cast<std::uint64_t>(std::llround(*largest_error_ * 1e18))});
  }
  return counters;
}

std::unique_ptr<NetworkModel> make_flow(const ModelInputs& inputs) {
  return std::make_unique<FlowModel>(inputs);
}

}  // namespace ringwright::network_models
