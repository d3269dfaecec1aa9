#include "network_models/flow/flow_exchanges.h"

#include <algorithm>
#include <utility>


namespace ringwright::network_models {

void FlowExchanges::put(FlowSlot flow, const Place& place) {
  if (flow >= places_.size()) places_.resize(flow + std::size_t{1});
  places_[flow] = place;
}

FlowSlot FlowExchanges::take_row(const Place& place) {
  const FlowSlot row = state_.flows.take_for_several();
  state_.flows[row].batched = state_.flows[row].in_exchange = true;
  state_.shares.place(row, {});
  put(row, place);
  return row;
}

std::uint32_t FlowExchanges::open(const Exchange& exchange) {
  if (free_.empty()) {
    const auto number = static_cast<std::uint32_t>(exchanges_.size());
    free_.push_back(number);
    exchanges_.emplace_back().number = number;
  }
  const std::uint32_t number = free_.back();
  free_.pop_back();
  InFlight& opened = exchanges_[number];
  opened.exchange = &exchange;
  opened.plan = nullptr;
  opened.members.assign(exchange.shape.members(), {});
  opened.starts.assign(exchange.shape.members(), kNever);
  opened.ends.assign(exchange.shape.members(), kNever);
  opened.arrived.assign(exchange.shape.edges(), false);
  opened.started = opened.over = opened.at_once = 0;
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
  const bool all_at_once = exchange.at_once > 0 && exchange.at_once == exchange.plan->parts.size();
  if (!all_at_once) start_messages(exchange, place.member);
  member.at_once = all_at_once || end_at_once(exchange, place.member);
  if (member.at_once) state_.flows.set_out();
  if (exchange.at_once > 0 && exchange.started == shape.members()) expect_ends(exchange);
  return messages_;
}

// The first member starts: each part goes at once, if no other flow uses its links.
void FlowExchanges::begin(InFlight& exchange) {
  exchange.plan = &plans_.plan_of(*exchange.exchange);
  while (exchange.parts.size() < exchange.plan->parts.size()) {
    exchange.parts.push_back({});
    exchange.passing.emplace_back();
  }
  for (std::uint32_t part = 0; part < exchange.plan->parts.size(); ++part) {
    exchange.parts[part].outcome = nullptr;
    exchange.parts[part].at_once = claim(exchange, part);
    if (exchange.parts[part].at_once) ++exchange.at_once;
  }
}

bool FlowExchanges::claim(InFlight& exchange, std::uint32_t number) {
  const ExchangePartPlan& plan = exchange.plan->parts[number];
  if (!plan.may_go_at_once) return false;
  FlowSlot& owner = exchange.parts[number].owner;
  if (owner == kNone) owner = take_row({.exchange = exchange.number, .part = number});
  if (batches_.claim(plan.links, owner)) return true;
  close_ended(plan.links);
  return batches_.claim(plan.links, owner);
}

// A part that has ended has its links until its exchange is over, or another flow enters one.
void FlowExchanges::close_ended(std::span<const LinkId> links) {
  for (const LinkId link : links) {
    const FlowSlot owner = batches_.on(link.value);
    if (owner == FlowBatches::kNone || !state_.flows[owner].in_exchange) continue;
    InFlight& exchange = exchanges_[places_[owner].exchange];
    if (has_ended(exchange.parts[places_[owner].part])) close(exchange, places_[owner].part);
  }
}

// Those that do not go at once.
void FlowExchanges::start_messages(InFlight& exchange, std::uint32_t member) {
  const RingShape& shape = exchange.exchange->shape;
  await_messages(exchange, member);
  const ExchangePlan& plan = exchange.at_once > 0 ? *exchange.plan : plans_.plan_of(*exchange.exchange);
  for (std::uint32_t edge = shape.first_edge(member); edge < shape.end_edge(member); ++edge) {
    if (part_at_once(exchange, edge) == nullptr) messages_.push_back(make_message(exchange, plan, edge));
  }
}

void FlowExchanges::expect_ends(InFlight& exchange) {
  const bool only = is_only(exchange);
  exchange.ends.assign(exchange.members.size(), state_.engine.now());
  for (std::uint32_t number = 0; number < exchange.plan->parts.size(); ++number) {
    Part& part = exchange.parts[number];
    if (!part.at_once) continue;
    const ExchangePartPlan& plan = exchange.plan->parts[number];
    const std::span<const TimePoint> starts = starts_of(exchange, number, starts_);
    part.outcome = &plans_.outcome(plan, starts, exchange.passing[number]);
    part.begins = part.ends = std::ranges::min(starts);
    for (std::uint32_t waiting = 0; waiting < part.outcome->ends.size(); ++waiting) {
      const TimePoint end = part.begins + part.outcome->ends[waiting];
      part.ends = std::max(part.ends, end);
      TimePoint& last = exchange.ends[only ? waiting : plan.waiting[waiting]];
      last = std::max(last, end);
    }
  }
  expect_next_end(exchange);
}

// Of the members that something at once ends for.
void FlowExchanges::expect_next_end(InFlight& exchange) {
  TimePoint next = kNever;
  for (std::size_t member = 0; member < exchange.members.size(); ++member) {
    if (exchange.members[member].at_once) next = std::min(next, exchange.ends[member]);
  }
  if (exchange.alarm == kNone) exchange.alarm = take_row({.exchange = exchange.number, .part = 0});
  next == kNever ? state_.ends.erase(exchange.alarm) : state_.ends.set(exchange.alarm, next);
}

std::span<const TimePoint> FlowExchanges::starts_of(const InFlight& exchange, std::uint32_t part,
                                                    std::vector<TimePoint>& scratch) {
  if (is_only(exchange)) return exchange.starts;
  scratch.clear();
  for (const std::uint32_t sender : exchange.plan->parts[part].senders) scratch.push_back(exchange.starts[sender]);
  return scratch;
}

ExchangeTimeline FlowExchanges::timeline_of(const InFlight& exchange, std::uint32_t part, TimePoint now) {
  std::vector<TimePoint> scratch;
  return {exchange.plan->parts[part].kind->paths, starts_of(exchange, part, scratch), now};
}

std::optional<TimePoint> FlowExchanges::end_at_once(const InFlight& exchange, std::uint32_t member) const {
  std::optional<TimePoint> last;
  if (exchange.at_once == 0) return last;
  for (std::size_t number = 0; number < exchange.plan->parts.size(); ++number) {
    const Part& part = exchange.parts[number];
    const std::vector<std::uint32_t>& waiting = exchange.plan->parts[number].waiting;
    const auto at = std::ranges::lower_bound(waiting, member);
    if (!part.at_once || at == waiting.end() || *at != member) continue;
    const auto place = static_cast<std::size_t>(at - waiting.begin());
    const TimePoint end = part.outcome == nullptr ? kNever : part.begins + part.outcome->ends[place];
    last = std::max(last.value_or(end), end);
  }
  return last;
}

// A row for the message over an edge, which sets out from its member's start.
FlowSlot FlowExchanges::make_message(const InFlight& exchange, const ExchangePlan& plan, std::uint32_t edge) {
  const RingShape& shape = exchange.exchange->shape;
  const std::uint32_t sender = shape.member_of(edge);
  const Member& member = exchange.members[sender];
  const FlowSlot flow = state_.flows.take_slot(member.order + (edge - shape.first_edge(sender)), 1);
  put(flow, {.exchange = exchange.number, .part = edge});
  state_.shares.place(flow, plan.hops[edge]);
  FlowRow& row = state_.flows.begin(flow, exchange.starts[sender], *member.listener, member.token);
  const RingEdge& message = exchange.exchange->edges[edge];
  row.bytes = row.remaining = static_cast<double>(message.sizes[message.first].count());
  row.latency = plan.latencies[edge];
  row.in_exchange = true;
  state_.flows.query(flow) = {.from = message.from, .to = message.to, .nics = message.nics, .label = message.label};
  return flow;
}

// Counts the messages that the member waits for, without those that go at once.
void FlowExchanges::await_messages(InFlight& exchange, std::uint32_t member) const {
  const auto on_its_way = [&exchange](std::uint32_t edge) {
    return !exchange.arrived[edge] && part_at_once(exchange, edge) == nullptr;
  };
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
    if (member.listener != nullptr && --member.pending == 0 && !member.at_once) {
      end_member(exchange, waiting, arrivals);
    }
  }
}

void FlowExchanges::end(FlowSlot flow, Arrivals& arrivals) {
  InFlight& exchange = exchanges_[places_[flow].exchange];
  for (std::uint32_t number = 0; number < exchange.members.size(); ++number) {
    Member& member = exchange.members[number];
    if (!member.at_once || exchange.ends[number] > state_.engine.now()) continue;
    member.at_once = false;
    state_.flows.rest();
    if (member.pending == 0) end_member(exchange, number, arrivals);
  }
  expect_next_end(exchange);
}

void FlowExchanges::end_member(InFlight& exchange, std::uint32_t number, Arrivals& arrivals) {
  const Member& member = exchange.members[number];
  arrivals.add({.order = member.order, .listener = member.listener, .token = member.token});
  if (++exchange.over < exchange.members.size()) return;
  for (std::uint32_t part = 0; exchange.at_once > 0; ++part) {
    if (exchange.parts[part].at_once) close(exchange, part);
  }
  free_.push_back(exchange.number);
}

// All its messages have arrived.
void FlowExchanges::close(InFlight& exchange, std::uint32_t number) {
  const ExchangePartPlan& plan = exchange.plan->parts[number];
  Part& part = exchange.parts[number];
  for (std::size_t link = 0; link < plan.links.size(); ++link) {
    state_.meters.carry(plan.links[link].value, part.outcome->usage[link].bytes);
    state_.meters.add_busy(plan.links[link].value, part.outcome->usage[link].busy);
  }
  batches_.release(plan.links);
  fast_forwarded_ += plan.edges.size();
  part.at_once = false;
  --exchange.at_once;
  if (exchange.over == exchange.members.size()) return;
  for (const std::uint32_t edge : plan.edges) exchange.arrived[edge] = true;
}

std::span<const FlowSlot> FlowExchanges::split(FlowSlot owner) {
  messages_.clear();
  InFlight& exchange = exchanges_[places_[owner].exchange];
  if (exchange.parts[places_[owner].part].at_once) split_part(exchange, places_[owner].part);
  return messages_;
}

std::span<const FlowSlot> FlowExchanges::split_all() {
  messages_.clear();
  for (InFlight& exchange : exchanges_) split_parts(exchange);
  return messages_;
}

std::span<const FlowSlot> FlowExchanges::split_all_over(LinkId link) {
  messages_.clear();
  const auto uses = [link](const ExchangePartPlan& part) { return std::ranges::count(part.links, link) > 0; };
  for (InFlight& exchange : exchanges_) {
    if (exchange.at_once > 0 && std::ranges::any_of(exchange.plan->parts, uses)) split_parts(exchange);
  }
  return messages_;
}

void FlowExchanges::split_parts(InFlight& exchange) {
  for (std::uint32_t part = 0; exchange.at_once > 0; ++part) {
    if (exchange.parts[part].at_once) split_part(exchange, part);
  }
}

void FlowExchanges::split_part(InFlight& exchange, std::uint32_t part) {
  has_ended(exchange.parts[part]) ? close(exchange, part) : resume(exchange, part);
}

// All messages of the part go on by themselves.
void FlowExchanges::resume(InFlight& exchange, std::uint32_t number) {
  const TimePoint now = state_.engine.now();
  const ExchangePartPlan& plan = exchange.plan->parts[number];
  const ExchangeTimeline timeline = timeline_of(exchange, number, now);
  const std::vector<LinkUsage> usage = timeline.usage(now, ExchangeTimeline::InFlight::kLeftOut);
  for (std::size_t link = 0; link < plan.links.size(); ++link) {
    state_.meters.carry(plan.links[link].value, usage[link].bytes);
    state_.meters.add_busy(plan.links[link].value, usage[link].busy);
  }
  batches_.release(plan.links);
  exchange.parts[number].at_once = false;
  --exchange.at_once;
  for (std::uint32_t edge = 0; edge < plan.edges.size(); ++edge) {
    resume_message(exchange, plan.edges[edge], timeline.messages()[edge]);
  }
  for (std::size_t waiting = 0; waiting < plan.waiting.size(); ++waiting) {
    const auto on_its_way = [&](std::uint32_t edge) { return !exchange.arrived[plan.edges[edge]]; };
    const auto more = std::ranges::count_if(plan.kind->awaits[waiting], on_its_way);
    resume_member(exchange, plan.waiting[waiting], static_cast<std::uint32_t>(more));
  }
  expect_next_end(exchange);
}

// It waits for so many more messages that go by themselves.
void FlowExchanges::resume_member(InFlight& exchange, std::uint32_t number, std::uint32_t more) {
  Member& member = exchange.members[number];
  member.pending += more;  // counted anew when it starts
  if (!member.at_once) return;
  const bool all_started = exchange.started == exchange.members.size();
  if (more == 0 && all_started) return;  // what goes at once ends later, or now
  const std::optional<TimePoint> rest = end_at_once(exchange, number);
  if (rest && *rest > state_.engine.now()) {
    if (all_started) exchange.ends[number] = *rest;
    return;
  }
  member.at_once = false;
  state_.flows.rest();
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

bool FlowExchanges::has_arrived(std::uint32_t number, std::uint32_t edge) const {
  const InFlight& exchange = exchanges_[number];
  const Part* const part = part_at_once(exchange, edge);
  if (part == nullptr) return exchange.arrived[edge];
  if (has_ended(*part)) return true;
  const TimePoint now = state_.engine.now();
  const ExchangePlan::Place place = exchange.plan->places[edge];
  return timeline_of(exchange, place.part, now).messages()[place.edge].end <= now;
}

void FlowExchanges::add_to(std::vector<LinkUsage>& usage) const {
  const TimePoint now = state_.engine.now();
  for (const InFlight& exchange : exchanges_) {
    if (exchange.at_once == 0) continue;
    for (std::uint32_t part = 0; part < exchange.plan->parts.size(); ++part) {
      if (!exchange.parts[part].at_once) continue;
      const std::vector<LinkId>& links = exchange.plan->parts[part].links;
      const auto carried = timeline_of(exchange, part, now).usage(now, ExchangeTimeline::InFlight::kCounted);
      for (std::size_t link = 0; link < links.size(); ++link) {
        usage[links[link].index()].bytes += carried[link].bytes;
        usage[links[link].index()].busy += carried[link].busy;
      }
    }
  }
}

// A sum: the number of an exchange does not matter.
std::uint64_t FlowExchanges::digest() const {
  std::uint64_t sum = 0;
  for (const InFlight& exchange : exchanges_) {
    if (exchange.over == exchange.members.size()) continue;
    for (std::uint32_t number = 0; number < exchange.members.size(); ++number) {
      const Member& member = exchange.members[number];
      if (member.at_once) sum += digest_at_once(exchange, number);
      if (member.listener != nullptr && member.pending > 0) sum += digest_pending(exchange, number);
    }
  }
  return sum;
}

// Of an exchange that is at once its starts decide all else.
std::uint64_t FlowExchanges::digest_at_once(const InFlight& exchange, std::uint32_t number) const {
  const auto since = static_cast<std::uint64_t>((state_.engine.now() - exchange.starts[number]).count());
  return mix(~exchange.members[number].listener->identity(exchange.members[number].token), since);
}

std::uint64_t FlowExchanges::digest_pending(const InFlight& exchange, std::uint32_t number) const {
  const Member& member = exchange.members[number];
  std::uint64_t state = member.listener->identity(member.token);
  for (const std::uint32_t edge : exchange.exchange->shape.awaited_by(number)) {
    const Part* const part = part_at_once(exchange, edge);
    const std::uint64_t arrived = exchange.arrived[edge] || (part != nullptr && has_ended(*part)) ? 1 : 0;
    state = mix(state, part != nullptr && arrived == 0 ? 2 : arrived);
  }
  const std::optional<TimePoint> end = end_at_once(exchange, number);
  if (end && *end != kNever && *end > state_.engine.now()) {
    state = mix(state, static_cast<std::uint64_t>((*end - state_.engine.now()).count()));
  }
  return state;
}

}  // namespace ringwright::network_models
