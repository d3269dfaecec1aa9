#include "network_models/flow/flow_rings.h"

#include <algorithm>

#include "core/base/check.h"

namespace ringwright::network_models {

std::uint32_t FlowRings::open(const RingShape& shape) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(rings_.size()));
    rings_.emplace_back();
  }
  const std::uint32_t number = free_.back();
  free_.pop_back();
  rings_[number].reset(shape);
  return number;
}

void FlowRings::start(RingPlace place, const RingMember& member, std::span<const FlowSlot> flows) {
  Ring& ring = rings_[place.ring];
  ring.messages = member.repeats;
  const std::uint32_t first = ring.timeline.shape().first_edge(place.member);
  for (std::uint32_t i = 0; i < flows.size(); ++i) {
    const FlowSlot flow = flows[i];
    if (flow >= places_.size()) places_.resize(flow + 1);
    places_[flow] = {.ring = place.ring, .edge = first + i};
    ring.edges[first + i] = {.flow = flow, .due = {}};
    RingTimeline::Edge& timed = ring.timeline.edges()[first + i];
    timed.sizes = member.edges[i].sizes;
    timed.first = member.edges[i].first % static_cast<std::uint32_t>(timed.sizes.size());
  }
  const FlowRow& row = state_.flows[flows.front()];
  ring.members[place.member] = {.listener = row.listener, .token = member.token, .order = row.order};
  ring.enter_step(place.member, 0);
  ++ring.started;
  note(place.ring);
}

std::uint32_t FlowRings::arrived_in(std::uint32_t number, std::uint32_t edge) const {
  const Ring& ring = rings_[number];
  RingTimeline::Walk walk;
  if (!ring.at_once) return ring.timeline.edges()[edge].done;
  return ring.timeline.positions(state_.engine.now(), walk)[edge].done;
}

bool FlowRings::set_out(FlowSlot flow) {
  const Place place = places_[flow];
  Ring& ring = rings_[place.ring];
  Ring::Edge& edge = ring.edges[place.edge];
  FlowRow& row = state_.flows[flow];
  RingTimeline::Edge& timed = ring.timeline.edges()[place.edge];
  row.bytes = static_cast<double>(RingTimeline::size_of(timed, timed.done).count());
  row.settled = state_.engine.now();
  edge.due = row.settled + row.latency;
  if (place.edge == 0 && ring.may_try()) note(place.ring);
  find_rate(edge, timed);
  edge.alone = go_alone(flow, edge.due + ring.moving_time_alone(place.edge), timed.rate);
  edge.queued = !edge.alone;
  return edge.alone;
}

// That of its links without other flows: the same until one changes its capacity, or the edge its route.
void FlowRings::find_rate(Ring::Edge& edge, RingTimeline::Edge& timed) const {
  if (edge.rated == capacities_) return;
  timed.rate = state_.shares.rate_alone(edge.flow);
  edge.rated = capacities_;
  edge.known = {};
}

// The message as one event, if nobody else uses its links.
bool FlowRings::go_alone(FlowSlot flow, TimePoint arrives, double rate) {
  FlowRow& row = state_.flows[flow];
  if (!batches_.is_fast() || row.bytes <= 0.0 || arrives == row.settled) return false;
  if (!batches_.is_free(flow, rate) || !batches_.claim(flow)) return false;
  row.batched = true;
  state_.ends.set(flow, arrives);
  return true;
}

bool FlowRings::is_due(FlowSlot flow) const {
  const FlowRow& row = state_.flows[flow];
  const Place place = places_[flow];
  const Ring::Edge& edge = rings_[place.ring].edges[place.edge];
  return edge.flow == flow && !row.moving && !row.batched && !edge.waits && edge.due == state_.engine.now();
}

void FlowRings::take_arrival(FlowSlot flow, std::vector<FlowSlot>& again, Arrivals& arrivals) {
  const Place place = places_[flow];
  Ring& ring = rings_[place.ring];
  const std::uint32_t done = ++ring.timeline.edges()[place.edge].done;
  --state_.flows[flow].repeats;
  ring.edges[place.edge].waits = true;
  if (done == ring.messages) release(ring.edges[place.edge]);
  for (const std::uint32_t waiting : ring.timeline.shape().waiting_for(place.edge)) {
    Ring::Member& member = ring.members[waiting];
    // Members that have not begun, and those that are steps behind, find what has arrived when they begin a step.
    if (member.listener == nullptr || member.step + 1 != done || --member.pending > 0) continue;
    end_step(ring, waiting, again, arrivals);
  }
  if (ring.is_over()) free_.push_back(place.ring);
}

void FlowRings::end_step(Ring& ring, std::uint32_t member, std::vector<FlowSlot>& again, Arrivals& arrivals) {
  const std::uint32_t next = ring.members[member].step + 1;
  if (next == ring.messages) return report(ring, member, arrivals);
  ring.enter_step(member, next);
  const RingShape& shape = ring.timeline.shape();
  for (std::uint32_t edge = shape.first_edge(member); edge < shape.end_edge(member); ++edge) {
    ring.edges[edge].waits = false;
    again.push_back(ring.edges[edge].flow);
  }
}

void FlowRings::release(Ring::Edge& edge) {
  const FlowSlot flow = edge.flow;
  state_.shares.forget(flow);
  state_.flows[flow].repeats = 0;
  state_.flows.give_back(flow);
  edge.flow = kNone;
  edge.waits = false;
}

void FlowRings::report(Ring& ring, std::uint32_t number, Arrivals& arrivals) {
  Ring::Member& member = ring.members[number];
  member.over = true;
  ++ring.over;
  arrivals.add({.order = member.order, .listener = member.listener, .token = member.token});
}

void FlowRings::note(std::uint32_t number) {
  Ring& ring = rings_[number];
  if (ring.noted || ring.at_once || ring.overlaps || ring.started < ring.members.size()) return;
  if (!batches_.is_fast()) return;
  ring.noted = true;
  noted_.push_back(number);
}

void FlowRings::look() {
  for (const std::uint32_t number : noted_) {
    Ring& ring = rings_[number];
    ring.noted = false;
    if (may_go_at_once(ring) && claim_links(ring)) go_at_once(ring);
  }
  noted_.clear();
}

bool FlowRings::has_free_links(Ring& ring, std::uint32_t number) const {
  Ring::Edge& edge = ring.edges[number];
  if (edge.flow == kNone) return ring.members[ring.timeline.shape().member_of(number)].over;
  const FlowRow& row = state_.flows[edge.flow];
  if (row.latency <= Duration()) return false;
  if (edge.alone) return true;
  if (!row.moving) {
    find_rate(edge, ring.timeline.edges()[number]);
    return batches_.is_free(edge.flow, ring.timeline.edges()[number].rate);
  }
  const auto free = [this](const LinkShare& hop) { return batches_.on(hop.link) == FlowBatches::kNone; };
  return row.rate > 0.0 && state_.shares.is_alone(edge.flow) &&
         std::ranges::all_of(state_.shares.route(edge.flow), free);
}

bool FlowRings::may_go_at_once(Ring& ring) const {
  const auto edges = static_cast<std::uint32_t>(ring.edges.size());
  if (ring.at_once || ring.is_over()) return false;
  for (std::uint32_t i = 0; i < edges; ++i) {
    const std::uint32_t edge = (ring.hindered + i) % edges;
    if (has_free_links(ring, edge)) continue;
    ring.hindered = edge;
    return false;
  }
  return true;
}

// False: its edges share some, now and always.
bool FlowRings::claim_links(Ring& ring) {
  for (const Ring::Edge& edge : ring.edges) {
    if (edge.flow == kNone || edge.alone || batches_.claim(edge.flow)) continue;
    ring.overlaps = true;
    for (const Ring::Edge& earlier : std::span(ring.edges.data(), &edge)) {
      if (earlier.flow != kNone && !earlier.alone) batches_.release(earlier.flow);
    }
    return false;
  }
  return true;
}

// The end of a member is that of its first edge's flow.
void FlowRings::go_at_once(Ring& ring) {
  ring.at_once = true;
  for (std::uint32_t edge = 0; edge < ring.edges.size(); ++edge) take_state(ring, edge);
  ring.timeline.begin(state_.engine.now(), ring.messages);
  const std::span<const TimePoint> ends = ring.timeline.ends(walk_);
  const RingShape& shape = ring.timeline.shape();
  for (std::uint32_t member = 0; member < ring.members.size(); ++member) {
    const FlowSlot flow = ring.edges[shape.first_edge(member)].flow;
    if (flow == kNone) continue;
    TimePoint last = ring.timeline.since();
    for (const std::uint32_t edge : shape.awaited_by(member)) last = std::max(last, ends[edge]);
    state_.ends.set(flow, last);
  }
}

// The edge at this moment, for the timeline; its message leaves the links.
void FlowRings::take_state(Ring& ring, std::uint32_t number) {
  Ring::Edge& edge = ring.edges[number];
  if (edge.flow == kNone) return;
  FlowRow& row = state_.flows[edge.flow];
  RingTimeline::Edge& timed = ring.timeline.edges()[number];
  state_.ends.erase(edge.flow);
  timed.latency = row.latency;
  find_rate(edge, timed);
  timed.flies = !edge.waits;
  edge.moved = row.moving;
  if (row.moving) {
    timed.arrives = row.settled + (row.remaining > 0.0 ? moving_time(row.remaining, row.rate) : Duration());
    for (const LinkShare& hop : state_.shares.route(edge.flow)) state_.meters.leave(hop.link, state_.engine.now());
    state_.shares.leave(edge.flow);
    row.moving = false;
  } else if (timed.flies) {
    timed.arrives = edge.due + RingTimeline::moving_time_of(timed, timed.done);
  }
  edge.alone = false;
  row.batched = true;
}

void FlowRings::book(const Ring& ring, std::uint32_t edge, std::uint32_t done) {
  const RingTimeline::Work work = ring.work_of(edge, done);
  fast_forwarded_ += done - ring.timeline.edges()[edge].done;
  for (const LinkShare& hop : state_.shares.route(ring.edges[edge].flow)) {
    state_.meters.carry(hop.link, hop.share * static_cast<double>(work.bytes.count()));
    state_.meters.add_busy(hop.link, work.busy);
  }
}

void FlowRings::end(FlowSlot flow, std::vector<FlowSlot>& again, Arrivals& arrivals) {
  const Place place = places_[flow];
  Ring& ring = rings_[place.ring];
  if (ring.edges[place.edge].alone) {
    state_.flows[flow].batched = false;
    end_alone(flow, ring, place.edge);
    return take_arrival(flow, again, arrivals);
  }
  end_member(ring, ring.timeline.shape().member_of(place.edge), arrivals);
  if (ring.is_over()) free_.push_back(place.ring);
}

void FlowRings::end_member(Ring& ring, std::uint32_t member, Arrivals& arrivals) {
  const RingShape& shape = ring.timeline.shape();
  for (std::uint32_t edge = shape.first_edge(member); edge < shape.end_edge(member); ++edge) {
    const FlowSlot flow = ring.edges[edge].flow;
    state_.flows[flow].batched = false;
    if (ring.at_once) {
      book(ring, edge, ring.messages);
      batches_.release(flow);
    }
    release(ring.edges[edge]);
  }
  report(ring, member, arrivals);
}

void FlowRings::end_alone(FlowSlot flow, Ring& ring, std::uint32_t edge) {
  const FlowRow& row = state_.flows[flow];
  ring.edges[edge].alone = false;
  batches_.release(flow);
  for (const LinkShare& hop : state_.shares.route(flow)) {
    state_.meters.carry(hop.link, hop.share * row.bytes);
    state_.meters.add_busy(hop.link, state_.engine.now() - ring.edges[edge].due);
  }
}

// True: it has to enter its links now.
bool FlowRings::split_alone(FlowSlot flow, Ring::Edge& edge, double rate) {
  FlowRow& row = state_.flows[flow];
  const TimePoint now = state_.engine.now();
  const TimePoint arrives = edge.due + moving_time(row.bytes, rate);
  if (arrives == now) return false;  // it is about to be notified
  edge.alone = row.batched = false;
  batches_.release(flow);
  if (now < edge.due) {
    state_.ends.set(flow, edge.due);
    return false;
  }
  for (const LinkShare& hop : state_.shares.route(flow)) state_.meters.add_busy(hop.link, now - edge.due);
  row.settled = edge.due;
  row.remaining = row.bytes;
  row.rate = rate;
  row.resumed = true;
  return true;
}

std::span<const FlowSlot> FlowRings::split(FlowSlot flow) {
  const Place place = places_[flow];
  Ring& ring = rings_[place.ring];
  entering_.clear();
  if (Ring::Edge& edge = ring.edges[place.edge]; edge.alone) {
    if (split_alone(flow, edge, ring.timeline.edges()[place.edge].rate)) entering_.push_back(flow);
    return entering_;
  }
  if (!ring.at_once) return entering_;  // it was split at this instant, and this member ends now
  const auto edges = static_cast<std::uint32_t>(ring.edges.size());
  ring.at_once = false;
  const std::span<const RingTimeline::Position> positions = ring.timeline.positions(state_.engine.now(), walk_);
  ring.note_split(positions.front().done - ring.timeline.edges().front().done);
  for (std::uint32_t edge = 0; edge < edges; ++edge) {
    if (ring.edges[edge].flow == kNone) continue;
    book(ring, edge, positions[edge].done);
    batches_.release(ring.edges[edge].flow);
  }
  for (std::uint32_t member = 0; member < ring.members.size(); ++member) resume_member(ring, member, positions);
  for (std::uint32_t edge = 0; edge < edges; ++edge) ring.timeline.edges()[edge].done = positions[edge].done;
  for (std::uint32_t member = 0; member < ring.members.size(); ++member) {
    ring.enter_step(member, ring.members[member].step);
  }
  return entering_;
}

// Message by message, unless it ends now.
void FlowRings::resume_member(Ring& ring, std::uint32_t member, std::span<const RingTimeline::Position> positions) {
  const RingShape& shape = ring.timeline.shape();
  const auto has_ended = [&](std::uint32_t edge) { return positions[edge].done == ring.messages; };
  if (ring.members[member].over || std::ranges::all_of(shape.awaited_by(member), has_ended)) return;
  for (std::uint32_t edge = shape.first_edge(member); edge < shape.end_edge(member); ++edge) {
    resume(ring, edge, positions[edge]);
    ring.members[member].step = positions[edge].done - (positions[edge].flies ? 0 : 1);
  }
}

// The edge goes on message by message.
void FlowRings::resume(Ring& ring, std::uint32_t number, const RingTimeline::Position& position) {
  Ring::Edge& edge = ring.edges[number];
  const RingTimeline::Edge& timed = ring.timeline.edges()[number];
  const FlowSlot flow = edge.flow;
  FlowRow& row = state_.flows[flow];
  const bool is_first = position.done == timed.done && timed.flies;
  const Ring::Flight message = ring.flight(number, position, state_.engine.now());
  state_.ends.erase(flow);
  row.batched = false;
  if (position.done == ring.messages) return release(edge);
  row.repeats = ring.messages - position.done;
  edge.waits = !position.flies;
  if (edge.waits) return;
  const bool was_moving = is_first && edge.moved;
  if (!is_first) {
    row.bytes = row.remaining = static_cast<double>(RingTimeline::size_of(timed, position.done).count());
    row.settled = message.moves ? message.since : position.left;
    edge.due = message.since;
    edge.queued = false;
  } else if (message.moves && !was_moving) {
    row.remaining = row.bytes;
    row.settled = edge.due;
  }
  if (message.moves) {
    if (!was_moving) row.rate = timed.rate;
    row.resumed = true;
    state_.ends.set(flow, row.settled + moving_time(row.remaining, row.rate));
    for (const LinkShare& hop : state_.shares.route(flow)) {
      state_.meters.add_busy(hop.link, state_.engine.now() - message.since);
    }
    entering_.push_back(flow);
  } else if (!edge.queued) {
    state_.ends.set(flow, message.since);
  }
}

std::uint64_t FlowRings::phase(FlowSlot flow) const {
  const Place place = places_[flow];
  const Ring& ring = rings_[place.ring];
  const Ring::Edge& edge = ring.edges[place.edge];
  return (edge.waits ? 1U : 0U) + (ring.at_once && edge.moved ? 2U : 0U) + (ring.at_once ? 4U : 0U) +
         (edge.alone ? 8U : 0U);
}

void FlowRings::add_to(std::vector<LinkUsage>& usage) const {
  const TimePoint now = state_.engine.now();
  RingTimeline::Walk walk;
  for (const Ring& ring : rings_) {
    if (ring.is_over()) continue;
    std::span<const RingTimeline::Position> positions;
    if (ring.at_once) positions = ring.timeline.positions(now, walk);
    for (std::uint32_t number = 0; number < ring.edges.size(); ++number) {
      const Ring::Edge& edge = ring.edges[number];
      if (edge.flow == kNone || (!ring.at_once && !edge.alone)) continue;
      const Ring::Carried carried =
          ring.at_once ? ring.carried(number, positions[number], state_.flows[edge.flow], now)
                       : Ring::carried_in(now - edge.due, ring.timeline.edges()[number].rate);
      for (const LinkShare& hop : state_.shares.route(edge.flow)) {
        usage[hop.link].bytes += hop.share * carried.bytes;
        usage[hop.link].busy += carried.busy;
      }
    }
  }
}

}  // namespace ringwright::network_models
