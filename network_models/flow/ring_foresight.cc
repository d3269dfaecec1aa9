#include "network_models/flow/ring_foresight.h"

#include <algorithm>

#include "core/base/random.h"

namespace ringwright::network_models {

// That of its links without other flows: the same until one changes its capacity, or the edge its route.
void RingForesight::find_rate(Ring& ring, std::uint32_t number) const {
  Ring::Edge& edge = ring.edges[number];
  if (edge.rated == capacities_) return;
  ring.timeline.edges()[number].rate = state_.shares.rate_alone(edge.flow);
  edge.rated = capacities_;
  edge.known = {};
}

bool RingForesight::set_out(Ring& ring, std::uint32_t number) {
  Ring::Edge& edge = ring.edges[number];
  FlowRow& row = state_.flows[edge.flow];
  catch_up(ring, number);
  const RingTimeline::Edge& timed = ring.timeline.edges()[number];
  row.bytes = static_cast<double>(RingTimeline::size_of(timed, timed.done).count());
  row.settled = state_.engine.now();
  edge.due = row.settled + row.latency;
  edge.waits = false;
  find_rate(ring, number);
  known_.clear();
  ready_.clear();
  if ((edge.foreseen || begin(ring, number)) && append(ring, number, row.settled)) {
    learn(ring);
    return true;
  }
  if (edge.foreseen) give_up(ring, number);
  edge.queued = true;
  return false;
}

bool RingForesight::begin(Ring& ring, std::uint32_t number) {
  Ring::Edge& edge = ring.edges[number];
  if (!batches_.is_fast() || !batches_.is_free(edge.flow, ring.timeline.edges()[number].rate)) return false;
  if (!batches_.claim(edge.flow)) return false;
  edge.foreseen = state_.flows[edge.flow].batched = true;
  ++ring.foreseen;
  return true;
}

// The edge's next message whose arrival is not known. False: it has to set out by itself, or does not fit.
bool RingForesight::append(Ring& ring, std::uint32_t number, TimePoint leaves) {
  Ring::Edge& edge = ring.edges[number];
  if (edge.ahead.full()) catch_up(ring, number);
  if (edge.ahead.full()) return false;
  const std::uint32_t message = ring.known(number);
  if (RingTimeline::size_of(ring.timeline.edges()[number], message) <= Bytes(0)) return false;
  const Duration time = state_.flows[edge.flow].latency + ring.moving_time_alone(number, message);
  if (time <= Duration()) return false;
  edge.ahead.push(leaves + time);
  known_.push_back({.edge = number, .message = message});
  return true;
}

// Steps that end with messages that have become known, and what follows.
void RingForesight::learn(Ring& ring) {
  while (!known_.empty()) {
    const Known known = known_.back();
    known_.pop_back();
    ring.edges[known.edge].announced = known.message + 1;
    for (const std::uint32_t waiting : ring.timeline.shape().waiting_for(known.edge)) {
      Ring::Member& member = ring.members[waiting];
      // Members that have not begun, and those that are steps behind, find what is known when they begin a step.
      if (member.listener == nullptr || member.step != known.message || --member.pending > 0) continue;
      begin_step(ring, waiting);
    }
  }
}

// What has arrived before now no longer matters.
TimePoint RingForesight::end_of_step(const Ring& ring, std::uint32_t number) const {
  const std::uint32_t step = ring.members[number].step;
  TimePoint end = state_.engine.now();
  for (const std::uint32_t edge : ring.timeline.shape().awaited_by(number)) {
    const std::uint32_t done = ring.timeline.edges()[edge].done;
    if (step >= done) end = std::max(end, ring.edges[edge].ahead[step - done]);
  }
  return end;
}

// The one after that whose end is known.
void RingForesight::begin_step(Ring& ring, std::uint32_t number) {
  const TimePoint begins = end_of_step(ring, number);
  ring.enter_step(number, ring.members[number].step + 1);
  if (begins == state_.engine.now()) return ready_.push_back(number);
  bool wakes = ring.members[number].step == ring.messages;
  const RingShape& shape = ring.timeline.shape();
  for (std::uint32_t edge = shape.first_edge(number); edge < shape.end_edge(number) && !wakes; ++edge) {
    wakes = !ring.edges[edge].foreseen;
  }
  for (std::uint32_t edge = shape.first_edge(number);
       edge < shape.end_edge(number) && ring.members[number].step < ring.messages; ++edge) {
    if (ring.edges[edge].foreseen && !append(ring, edge, begins)) wakes = true;
  }
  if (wakes) wake_at(ring, number, begins);
}

void RingForesight::wake_at(Ring& ring, std::uint32_t number, TimePoint at) {
  const FlowSlot flow = ring.first_flow(number);
  ring.members[number].wakes = state_.flows[flow].batched = true;
  state_.ends.set(flow, at);
}

void RingForesight::sleep_on(Ring& ring, std::uint32_t number) {
  if (!ring.members[number].wakes) return;
  const std::uint32_t first = ring.timeline.shape().first_edge(number);
  ring.members[number].wakes = false;
  state_.flows[ring.edges[first].flow].batched = ring.edges[first].foreseen;
  state_.ends.erase(ring.edges[first].flow);
}

const std::vector<std::uint32_t>& RingForesight::take_arrival(Ring& ring, std::uint32_t number) {
  RingTimeline::Edge& timed = ring.timeline.edges()[number];
  --state_.flows[ring.edges[number].flow].repeats;
  ring.edges[number].waits = true;
  ready_.clear();
  known_.clear();
  known_.push_back({.edge = number, .message = timed.done++});
  learn(ring);
  return ready_;
}

const std::vector<std::uint32_t>& RingForesight::wake(Ring& ring, std::uint32_t number) {
  sleep_on(ring, number);
  leaving_.clear();
  const std::uint32_t step = ring.members[number].step;
  const RingShape& shape = ring.timeline.shape();
  for (std::uint32_t edge = shape.first_edge(number); edge < shape.end_edge(number) && step < ring.messages; ++edge) {
    if (ring.known(edge) == step) leaving_.push_back(edge);
  }
  return leaving_;
}

void RingForesight::catch_up(Ring& ring, std::uint32_t number) {
  Ring::Edge& edge = ring.edges[number];
  RingTimeline::Edge& timed = ring.timeline.edges()[number];
  RingTimeline::Work work;
  const std::uint32_t before = timed.done;
  while (!edge.ahead.empty() && edge.ahead.front() <= state_.engine.now()) {
    work.bytes += RingTimeline::size_of(timed, timed.done);
    work.busy += ring.moving_time_alone(number, timed.done);
    edge.ahead.pop();
    ++timed.done;
  }
  if (timed.done == before) return;
  state_.flows[edge.flow].repeats -= timed.done - before;
  for (const LinkShare& hop : state_.shares.route(edge.flow)) {
    state_.meters.carry(hop.link, hop.share * static_cast<double>(work.bytes.count()));
    state_.meters.add_busy(hop.link, work.busy);
  }
}

void RingForesight::give_up(Ring& ring, std::uint32_t number) {
  Ring::Edge& edge = ring.edges[number];
  edge.foreseen = false;
  --ring.foreseen;
  batches_.release(edge.flow);
  const std::uint32_t member = ring.timeline.shape().member_of(number);
  const bool is_first = number == ring.timeline.shape().first_edge(member);
  state_.flows[edge.flow].batched = is_first && ring.members[member].wakes;
}

RingForesight::Next RingForesight::next(Ring& ring, std::uint32_t number) {
  catch_up(ring, number);
  const Ring::Edge& edge = ring.edges[number];
  if (edge.ahead.empty()) return {};
  const Duration moves = ring.moving_time_alone(number, ring.timeline.edges()[number].done);
  const TimePoint leaves = edge.ahead.front() - moves - state_.flows[edge.flow].latency;
  return {.left = leaves <= state_.engine.now(), .leaves = leaves};
}

bool RingForesight::split(Ring& ring, std::uint32_t number) {
  const TimePoint now = state_.engine.now();
  const Next message = next(ring, number);
  Ring::Edge& edge = ring.edges[number];
  give_up(ring, number);
  forget(ring, number);
  edge.waits = !message.left;
  if (message.leaves == kNever) return false;
  if (!message.left) {
    wake_at(ring, ring.timeline.shape().member_of(number), message.leaves);
    return false;
  }
  const RingTimeline::Edge& timed = ring.timeline.edges()[number];
  FlowRow& row = state_.flows[edge.flow];
  row.bytes = static_cast<double>(RingTimeline::size_of(timed, timed.done).count());
  row.settled = message.leaves;
  edge.due = message.leaves + row.latency;
  edge.queued = false;
  if (now < edge.due) {
    state_.ends.set(edge.flow, edge.due);
    return false;
  }
  for (const LinkShare& hop : state_.shares.route(edge.flow)) state_.meters.add_busy(hop.link, now - edge.due);
  row.settled = edge.due;
  row.remaining = row.bytes;
  row.rate = timed.rate;
  row.resumed = true;
  state_.ends.set(edge.flow, edge.due + moving_time(row.bytes, row.rate));  // unless its rate changes
  return true;
}

// The arrivals of the edge's messages that have not arrived, and what follows from them.
void RingForesight::forget(Ring& ring, std::uint32_t number) {
  lost_.clear();
  shorten(ring, number, ring.timeline.edges()[number].done);
  while (!lost_.empty()) {
    const std::uint32_t edge = lost_.back();
    lost_.pop_back();
    const std::uint32_t known = ring.known(edge);
    for (const std::uint32_t waiting : ring.timeline.shape().waiting_for(edge)) {
      const Ring::Member& member = ring.members[waiting];
      if (member.listener != nullptr && member.step >= known) take_back(ring, waiting, known);
    }
  }
}

// To so many known messages.
void RingForesight::shorten(Ring& ring, std::uint32_t number, std::uint32_t messages) {
  if (ring.known(number) <= messages) return;
  Ring::Edge& edge = ring.edges[number];
  edge.ahead.shorten(messages - ring.timeline.edges()[number].done);
  edge.announced = messages;
  lost_.push_back(number);
}

// The member's steps after this one, whose end is not known.
void RingForesight::take_back(Ring& ring, std::uint32_t number, std::uint32_t step) {
  const RingShape& shape = ring.timeline.shape();
  if (ring.members[number].step > step) {
    sleep_on(ring, number);
    for (std::uint32_t edge = shape.first_edge(number); edge < shape.end_edge(number); ++edge) {
      shorten(ring, edge, step + 1);
    }
  }
  ring.enter_step(number, step);
}

std::uint32_t RingForesight::arrived(const Ring& ring, std::uint32_t number) const {
  const ArrivalsAhead& ahead = ring.edges[number].ahead;
  std::uint32_t arrived = 0;
  while (arrived < ahead.size() && ahead[arrived] <= state_.engine.now()) ++arrived;
  return ring.timeline.edges()[number].done + arrived;
}

RingForesight::Ring::Carried RingForesight::carried(const Ring& ring, std::uint32_t number) const {
  const Ring::Edge& edge = ring.edges[number];
  const RingTimeline::Edge& timed = ring.timeline.edges()[number];
  const std::uint32_t done = arrived(ring, number);
  const RingTimeline::Work work = RingTimeline::work_of(timed, done);
  Ring::Carried carried{.bytes = static_cast<double>(work.bytes.count()), .busy = work.busy};
  if (done == ring.known(number)) return carried;
  const Duration left = edge.ahead[done - timed.done] - state_.engine.now();
  const Ring::Carried message = Ring::carried_in(RingTimeline::moving_time_of(timed, done) - left, timed.rate);
  carried.bytes += message.bytes;
  carried.busy += message.busy;
  return carried;
}

// What has arrived, and when the message after that did leave; the rest follows.
std::uint64_t RingForesight::digest(const Ring& ring, std::uint32_t number) const {
  const RingTimeline::Edge& timed = ring.timeline.edges()[number];
  const std::uint32_t done = arrived(ring, number);
  const std::uint64_t left = ring.messages - done;
  if (done == ring.known(number)) return mix(left, 0);
  const Duration until = ring.edges[number].ahead[done - timed.done] - state_.engine.now();
  const Duration takes = state_.flows[ring.edges[number].flow].latency + RingTimeline::moving_time_of(timed, done);
  return mix(left, until <= takes ? static_cast<std::uint64_t>(until.count()) : 0);
}

}  // namespace ringwright::network_models
