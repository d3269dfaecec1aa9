#include "network_models/flow/flow_rings.h"

#include <algorithm>
#include <utility>

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
  if (!ring.at_once) return foresight_.arrived(ring, edge);
  return ring.timeline.positions(state_.engine.now(), walk)[edge].done;
}

bool FlowRings::set_out(FlowSlot flow) {
  const Place place = places_[flow];
  Ring& ring = rings_[place.ring];
  const bool known = foresight_.set_out(ring, place.edge);
  if ((place.edge == 0 || ring.foreseen == ring.edges.size()) && ring.may_try()) note(place.ring);
  return known;
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
  for (const std::uint32_t member : foresight_.take_arrival(ring, place.edge)) {
    begin_step(ring, member, again, arrivals);
  }
  if (ring.is_over()) free_.push_back(place.ring);
}

// Or it ends.
void FlowRings::begin_step(Ring& ring, std::uint32_t member, std::vector<FlowSlot>& again, Arrivals& arrivals) {
  if (ring.members[member].step == ring.messages) return end_member(ring, member, arrivals);
  const RingShape& shape = ring.timeline.shape();
  for (std::uint32_t edge = shape.first_edge(member); edge < shape.end_edge(member); ++edge) {
    again.push_back(ring.edges[edge].flow);
  }
}

void FlowRings::release(Ring& ring, std::uint32_t number) {
  Ring::Edge& edge = ring.edges[number];
  if (edge.foreseen) {
    foresight_.catch_up(ring, number);
    foresight_.give_up(ring, number);
  }
  const FlowSlot flow = std::exchange(edge.flow, kNone);
  state_.shares.forget(flow);
  state_.flows[flow].repeats = 0;
  state_.flows.give_back(flow);
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
  const Ring::Edge& edge = ring.edges[number];
  if (edge.flow == kNone) return true;
  if (foresight_.arrived(ring, number) == ring.messages) return false;
  const FlowRow& row = state_.flows[edge.flow];
  if (row.latency <= Duration()) return false;
  if (edge.foreseen) return true;
  if (!row.moving) {
    foresight_.find_rate(ring, number);
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
    if (edge.flow == kNone || edge.foreseen || batches_.claim(edge.flow)) continue;
    ring.overlaps = true;
    for (const Ring::Edge& earlier : std::span(ring.edges.data(), &edge)) {
      if (earlier.flow != kNone && !earlier.foreseen) batches_.release(earlier.flow);
    }
    return false;
  }
  return true;
}

// The end of a member is that of its first edge's flow.
void FlowRings::go_at_once(Ring& ring) {
  ring.at_once = true;
  for (std::uint32_t edge = 0; edge < ring.edges.size(); ++edge) take_state(ring, edge);
  for (Ring::Member& member : ring.members) member.wakes = false;
  ring.foreseen = 0;
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
  foresight_.find_rate(ring, number);
  if (edge.foreseen) take_foreseen(ring, number);
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
  row.batched = true;
}

// Its message as one that has set out by itself.
void FlowRings::take_foreseen(Ring& ring, std::uint32_t number) {
  const RingForesight::Next message = foresight_.next(ring, number);
  Ring::Edge& edge = ring.edges[number];
  const RingTimeline::Edge& timed = ring.timeline.edges()[number];
  FlowRow& row = state_.flows[edge.flow];
  edge.foreseen = edge.queued = false;
  edge.ahead.shorten(0);
  edge.waits = !message.left;
  if (edge.waits) return;
  row.bytes = static_cast<double>(RingTimeline::size_of(timed, timed.done).count());
  row.settled = message.leaves;
  edge.due = message.leaves + row.latency;
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
  const std::uint32_t member = ring.timeline.shape().member_of(place.edge);
  if (!ring.at_once && ring.members[member].wakes) {
    for (const std::uint32_t edge : foresight_.wake(ring, member)) again.push_back(ring.edges[edge].flow);
    if (ring.members[member].step < ring.messages) return;
  }
  end_member(ring, member, arrivals);
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
    release(ring, edge);
  }
  report(ring, member, arrivals);
}

std::span<const FlowSlot> FlowRings::split(FlowSlot flow) {
  const Place place = places_[flow];
  Ring& ring = rings_[place.ring];
  entering_.clear();
  if (ring.edges[place.edge].foreseen) {
    if (foresight_.split(ring, place.edge)) entering_.push_back(flow);
    return entering_;
  }
  if (!ring.at_once) return entering_;  // its member wakes up, or it was split at this instant and this member ends now
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
  for (std::uint32_t edge = 0; edge < edges; ++edge) {
    ring.timeline.edges()[edge].done = ring.edges[edge].announced = positions[edge].done;
  }
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

void FlowRings::give_way(FlowSlot flow) {
  const Place place = places_[flow];
  Ring& ring = rings_[place.ring];
  if (!ring.edges[place.edge].foreseen || foresight_.next(ring, place.edge).left) return;
  (void)foresight_.split(ring, place.edge);
}

bool FlowRings::is_foreseen(FlowSlot flow) const {
  return rings_[places_[flow].ring].edges[places_[flow].edge].foreseen;
}

std::uint64_t FlowRings::phase(FlowSlot flow) const {
  const Place place = places_[flow];
  const Ring& ring = rings_[place.ring];
  const Ring::Edge& edge = ring.edges[place.edge];
  if (edge.foreseen) return foresight_.digest(ring, place.edge);
  return (edge.waits ? 1U : 0U) + (ring.at_once && edge.moved ? 2U : 0U) + (ring.at_once ? 4U : 0U);
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
      if (edge.flow == kNone || (!ring.at_once && !edge.foreseen)) continue;
      const Ring::Carried carried = ring.at_once ? ring.carried(number, positions[number], state_.flows[edge.flow], now)
                                                 : foresight_.carried(ring, number);
      for (const LinkShare& hop : state_.shares.route(edge.flow)) {
        usage[hop.link].bytes += hop.share * carried.bytes;
        usage[hop.link].busy += carried.busy;
      }
    }
  }
}

}  // namespace ringwright::network_models
