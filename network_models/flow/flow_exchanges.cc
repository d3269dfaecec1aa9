#include "network_models/flow/flow_exchanges.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"
#include "core/base/random.h"

namespace ringwright::network_models {

void FlowExchanges::put(FlowSlot flow, const Place& place) {
  if (flow >= places_.size()) places_.resize(flow + std::size_t{1});
  places_[flow] = place;
}

std::uint32_t FlowExchanges::open(const Exchange& exchange) {
  if (free_.empty()) {
    const auto number = static_cast<std::uint32_t>(exchanges_.size());
    free_.push_back(number);
    const FlowSlot owner = state_.flows.take_slot(0, 0);
    state_.flows[owner].in_exchange = true;
    put(owner, {.exchange = number, .part = 0});
    exchanges_.emplace_back().owner = owner;
  }
  const std::uint32_t number = free_.back();
  free_.pop_back();
  InFlight& opened = exchanges_[number];
  opened.exchange = &exchange;
  opened.plan = nullptr;
  opened.outcome = nullptr;
  opened.members.assign(exchange.shape.members(), {});
  opened.starts.assign(exchange.shape.members(), kNever);
  opened.arrived.assign(exchange.shape.edges(), false);
  opened.started = opened.over = 0;
  opened.at_once = false;
  return number;
}

std::span<const FlowSlot> FlowExchanges::start(ExchangePlace place, std::uint64_t token, TransferListener& listener) {
  InFlight& exchange = exchanges_[place.exchange];
  const RingShape& shape = exchange.exchange->shape;
  const std::uint32_t edges = shape.end_edge(place.member) - shape.first_edge(place.member);
  messages_.clear();
  Member& member = exchange.members[place.member];
  member = {.listener = &listener, .token = token, .order = state_.flows.take_numbers(edges)};
  exchange.starts[place.member] = state_.engine.now();
  if (exchange.started++ == 0) begin(exchange);
  if (!exchange.at_once) {
    await_messages(exchange, place.member);
    const ExchangePlan& plan = plans_.plan_of(*exchange.exchange);
    for (std::uint32_t edge = shape.first_edge(place.member); edge < shape.end_edge(place.member); ++edge) {
      messages_.push_back(make_message(exchange, plan, edge));
    }
    return messages_;
  }
  member.flow = state_.flows.take_slot(member.order, edges);
  put(member.flow, {.exchange = place.exchange, .part = place.member});
  state_.shares.place(member.flow, {});
  FlowRow& row = state_.flows.begin(member.flow, state_.engine.now(), listener, token);
  row.bytes = row.remaining = 0.0;
  row.latency = Duration();
  row.batched = row.in_exchange = true;
  if (exchange.started == shape.members()) expect_ends(exchange);
  return messages_;
}

// The first member starts: at once, if no other flow uses the links.
void FlowExchanges::begin(InFlight& exchange) {
  exchange.plan = &plans_.plan_of(*exchange.exchange);
  exchange.at_once = exchange.plan->may_go_at_once && batches_.claim(exchange.plan->links, exchange.owner);
}

void FlowExchanges::expect_ends(InFlight& exchange) {
  exchange.outcome = &plans_.outcome(*exchange.exchange, *exchange.plan, exchange.starts, exchange.passing);
  const TimePoint first = std::ranges::min(exchange.starts);
  for (std::uint32_t member = 0; member < exchange.members.size(); ++member) {
    state_.ends.set(exchange.members[member].flow, first + exchange.outcome->ends[member]);
  }
}

bool FlowExchanges::has_arrived(std::uint32_t number, std::uint32_t edge) const {
  const InFlight& exchange = exchanges_[number];
  if (!exchange.at_once) return exchange.arrived[edge];
  const TimePoint now = state_.engine.now();
  return ExchangeTimeline(exchange.plan->kind->paths, exchange.starts, now).messages()[edge].end <= now;
}

// A row for the message over an edge, which sets out from its member's start.
FlowSlot FlowExchanges::make_message(const InFlight& exchange, const ExchangePlan& plan, std::uint32_t edge) {
  const RingShape& shape = exchange.exchange->shape;
  const std::uint32_t sender = shape.member_of(edge);
  const Member& member = exchange.members[sender];
  const FlowSlot flow = state_.flows.take_slot(member.order + (edge - shape.first_edge(sender)), 1);
  put(flow, {.exchange = number_of(exchange), .part = edge});
  state_.shares.place(flow, plan.hops[edge]);
  FlowRow& row = state_.flows.begin(flow, exchange.starts[sender], *member.listener, member.token);
  const RingEdge& message = exchange.exchange->edges[edge];
  const ExchangePaths::Edge& path = plan.kind->paths.edges[edge];
  row.bytes = row.remaining = path.bytes;
  row.latency = path.latency;
  row.in_exchange = true;
  state_.flows.query(flow) = {.from = message.from, .to = message.to, .nics = message.nics, .label = message.label};
  return flow;
}

// Counts the messages that the member waits for.
void FlowExchanges::await_messages(InFlight& exchange, std::uint32_t member) const {
  const auto on_its_way = [&exchange](std::uint32_t edge) { return !exchange.arrived[edge]; };
  exchange.members[member].pending =
      static_cast<std::uint32_t>(std::ranges::count_if(exchange.exchange->shape.awaited_by(member), on_its_way));
}

void FlowExchanges::give_back(FlowSlot flow) {
  state_.shares.forget(flow);
  state_.flows[flow].batched = false;
  state_.flows[flow].repeats = 0;
  state_.flows.give_back(flow);
}

void FlowExchanges::take_arrival(FlowSlot flow, Arrivals& arrivals) {
  const Place place = places_[flow];
  InFlight& exchange = exchanges_[place.exchange];
  exchange.arrived[place.part] = true;
  give_back(flow);
  for (const std::uint32_t waiting : exchange.exchange->shape.waiting_for(place.part)) {
    Member& member = exchange.members[waiting];
    // Members that have not started find what has arrived when they do.
    if (member.listener != nullptr && --member.pending == 0) end_member(exchange, waiting, arrivals);
  }
}

void FlowExchanges::end(FlowSlot flow, Arrivals& arrivals) {
  const Place place = places_[flow];
  InFlight& exchange = exchanges_[place.exchange];
  exchange.members[place.part].flow = kNone;
  give_back(flow);
  end_member(exchange, place.part, arrivals);
}

void FlowExchanges::end_member(InFlight& exchange, std::uint32_t number, Arrivals& arrivals) {
  const Member& member = exchange.members[number];
  arrivals.add({.order = member.order, .listener = member.listener, .token = member.token});
  if (++exchange.over < exchange.members.size()) return;
  if (exchange.at_once) close(exchange);
  free_.push_back(number_of(exchange));
}

void FlowExchanges::close(InFlight& exchange) {
  const std::vector<LinkId>& links = exchange.plan->links;
  for (std::size_t link = 0; link < links.size(); ++link) {
    state_.meters.carry(links[link].value, exchange.outcome->usage[link].bytes);
    state_.meters.add_busy(links[link].value, exchange.outcome->usage[link].busy);
  }
  batches_.release(links);
  fast_forwarded_ += exchange.arrived.size();
  exchange.at_once = false;
}

std::span<const FlowSlot> FlowExchanges::split(FlowSlot owner) {
  messages_.clear();
  InFlight& exchange = exchanges_[places_[owner].exchange];
  if (exchange.at_once) resume(exchange);
  return messages_;
}

std::span<const FlowSlot> FlowExchanges::split_all() {
  messages_.clear();
  for (InFlight& exchange : exchanges_) {
    if (exchange.at_once) resume(exchange);
  }
  return messages_;
}

// All messages go on by themselves.
void FlowExchanges::resume(InFlight& exchange) {
  const TimePoint now = state_.engine.now();
  const ExchangePlan& plan = *exchange.plan;
  const ExchangeTimeline timeline(plan.kind->paths, exchange.starts, now);
  const std::vector<LinkUsage> usage = timeline.usage(now, ExchangeTimeline::InFlight::kLeftOut);
  for (std::size_t link = 0; link < plan.links.size(); ++link) {
    state_.meters.carry(plan.links[link].value, usage[link].bytes);
    state_.meters.add_busy(plan.links[link].value, usage[link].busy);
  }
  batches_.release(plan.links);
  exchange.at_once = false;
  for (std::uint32_t edge = 0; edge < exchange.arrived.size(); ++edge) {
    resume_message(exchange, edge, timeline.messages()[edge]);
  }
  for (std::uint32_t number = 0; number < exchange.members.size(); ++number) {
    Member& member = exchange.members[number];
    if (member.flow == kNone) continue;
    await_messages(exchange, number);
    if (member.pending == 0) continue;  // it ends now
    state_.ends.erase(member.flow);
    give_back(std::exchange(member.flow, kNone));
  }
}

// What happens to it at this very instant has not happened yet, but that it arrives.
void FlowExchanges::resume_message(InFlight& exchange, std::uint32_t edge, const ExchangeTimeline::Message& message) {
  if (message.due == kNever) return;
  const TimePoint now = state_.engine.now();
  if (message.end <= now) {
    exchange.arrived[edge] = true;
    ++fast_forwarded_;
    return;
  }
  const FlowSlot flow = make_message(exchange, *exchange.plan, edge);
  FlowRow& row = state_.flows[flow];
  if (message.due > now) return state_.ends.set(flow, message.due);
  messages_.push_back(flow);
  row.settled = now;
  if (message.due == now) return;
  row.remaining = message.remaining;
  row.rate = message.rate;
  row.settled = message.settled;
  row.resumed = true;
  state_.ends.set(flow, message.end);
}

void FlowExchanges::add_to(std::vector<LinkUsage>& usage) const {
  const TimePoint now = state_.engine.now();
  for (const InFlight& exchange : exchanges_) {
    if (!exchange.at_once) continue;
    const ExchangePlan& plan = *exchange.plan;
    const ExchangeTimeline timeline(plan.kind->paths, exchange.starts, now);
    const std::vector<LinkUsage> carried = timeline.usage(now, ExchangeTimeline::InFlight::kCounted);
    for (std::size_t link = 0; link < plan.links.size(); ++link) {
      usage[plan.links[link].index()].bytes += carried[link].bytes;
      usage[plan.links[link].index()].busy += carried[link].busy;
    }
  }
}

// A sum: the number of an exchange does not matter.
std::uint64_t FlowExchanges::digest() const {
  std::uint64_t sum = 0;
  for (const InFlight& exchange : exchanges_) {
    if (exchange.over == exchange.members.size() || exchange.at_once) continue;
    for (std::uint32_t number = 0; number < exchange.members.size(); ++number) {
      const Member& member = exchange.members[number];
      if (member.listener == nullptr || member.pending == 0) continue;
      std::uint64_t state = member.listener->identity(member.token);
      for (const std::uint32_t edge : exchange.exchange->shape.awaited_by(number)) {
        state = mix(state, exchange.arrived[edge] ? 1 : 0);
      }
      sum += state;
    }
  }
  return sum;
}

}  // namespace ringwright::network_models
