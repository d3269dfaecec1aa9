#include "network_models/flow/flow_rings.h"

#include <algorithm>

#include "core/base/check.h"

namespace ringwright::network_models {

std::uint32_t FlowRings::open(std::uint32_t edges) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(rings_.size()));
    rings_.emplace_back();
  }
  const std::uint32_t number = free_.back();
  free_.pop_back();
  Ring& ring = rings_[number];
  ring.timeline.edges().assign(edges, {});
  ring.members.assign(edges, {});
  ring.started = ring.over = ring.hindered = 0;
  ring.at_once = ring.overlaps = false;
  return number;
}

void FlowRings::start(RingPlace place, const RingEdge& edge, FlowSlot flow) {
  if (flow >= places_.size()) places_.resize(flow + 1);
  places_[flow] = place;
  Ring& ring = rings_[place.ring];
  const FlowRow& row = state_.flows[flow];
  ring.members[place.edge] = {.flow = flow, .listener = row.listener, .token = edge.token, .order = row.order};
  RingTimeline::Edge& timed = ring.timeline.edges()[place.edge];
  timed.sizes = edge.sizes;
  timed.first = edge.first;
  ring.messages = edge.repeats;
  ++ring.started;
  note(place);
}

std::uint32_t FlowRings::arrived_in(RingPlace place) const {
  const Ring& ring = rings_[place.ring];
  RingTimeline::Walk walk;
  if (!ring.at_once) return ring.timeline.edges()[place.edge].done;
  return ring.timeline.positions(state_.engine.now(), walk)[place.edge].done;
}

bool FlowRings::set_out(FlowSlot flow) {
  const RingPlace place = places_[flow];
  Ring& ring = rings_[place.ring];
  Member& member = ring.members[place.edge];
  FlowRow& row = state_.flows[flow];
  RingTimeline::Edge& edge = ring.timeline.edges()[place.edge];
  row.bytes = static_cast<double>(RingTimeline::size_of(edge, edge.done).count());
  row.settled = state_.engine.now();
  member.due = row.settled + row.latency;
  if (place.edge == 0) note(place);
  edge.rate = state_.shares.rate_alone(flow);
  member.alone = go_alone(flow, member.due + RingTimeline::moving_time_of(edge, edge.done));
  member.queued = !member.alone;
  return member.alone;
}

// The message as one event, if nobody else uses its links.
bool FlowRings::go_alone(FlowSlot flow, TimePoint arrives) {
  FlowRow& row = state_.flows[flow];
  if (!batches_.is_fast() || row.bytes <= 0.0 || arrives == row.settled) return false;
  if (!batches_.is_free(flow) || !batches_.claim(flow)) return false;
  row.batched = true;
  state_.ends.set(flow, arrives);
  return true;
}

bool FlowRings::is_due(FlowSlot flow) const {
  const FlowRow& row = state_.flows[flow];
  const RingPlace place = places_[flow];
  const Member& member = rings_[place.ring].members[place.edge];
  return member.flow == flow && !row.moving && !row.batched && !member.waits && member.due == state_.engine.now();
}

void FlowRings::take_arrival(FlowSlot flow, std::vector<FlowSlot>& again, Arrivals& arrivals) {
  const RingPlace place = places_[flow];
  Ring& ring = rings_[place.ring];
  std::vector<RingTimeline::Edge>& edges = ring.timeline.edges();
  const auto count = static_cast<std::uint32_t>(edges.size());
  const std::uint32_t before = (place.edge + count - 1) % count;
  const std::uint32_t after = (place.edge + 1) % count;
  Member& member = ring.members[place.edge];
  const std::uint32_t done = ++edges[place.edge].done;
  --state_.flows[flow].repeats;
  if (done < ring.messages) {
    member.waits = edges[before].done < done;
    if (!member.waits) again.push_back(flow);
  } else {
    release(member);
    if (edges[before].done == ring.messages) report(ring, place.edge, arrivals);
  }
  Member& next = ring.members[after];
  if (next.waits && done >= edges[after].done) {
    next.waits = false;
    again.push_back(next.flow);
  } else if (done == ring.messages && edges[after].done == ring.messages && next.flow == kNone && !next.over) {
    report(ring, after, arrivals);
  }
  if (ring.over == count) free_.push_back(place.ring);
}

void FlowRings::release(Member& member) {
  const FlowSlot flow = member.flow;
  state_.shares.forget(flow);
  state_.flows[flow].repeats = 0;
  state_.flows.give_back(flow);
  member.flow = kNone;
  member.waits = false;
}

void FlowRings::report(Ring& ring, std::uint32_t edge, Arrivals& arrivals) {
  Member& member = ring.members[edge];
  member.over = true;
  ++ring.over;
  arrivals.add({.order = member.order, .listener = member.listener, .token = member.token});
}

void FlowRings::note(RingPlace place) {
  Ring& ring = rings_[place.ring];
  if (ring.noted || ring.at_once || ring.overlaps || ring.started < ring.members.size()) return;
  if (!batches_.is_fast()) return;
  ring.noted = true;
  noted_.push_back(place.ring);
}

void FlowRings::look() {
  for (const std::uint32_t number : noted_) {
    Ring& ring = rings_[number];
    ring.noted = false;
    if (may_go_at_once(ring) && claim_links(ring)) go_at_once(ring);
  }
  noted_.clear();
}

bool FlowRings::has_free_links(const Ring& ring, std::uint32_t edge) const {
  const Member& member = ring.members[edge];
  if (member.flow == kNone) return member.over;
  const FlowRow& row = state_.flows[member.flow];
  if (row.latency <= Duration()) return false;
  if (member.alone) return true;
  if (!row.moving) return batches_.is_free(member.flow);
  const auto free = [this](const LinkShare& hop) { return batches_.on(hop.link) == FlowBatches::kNone; };
  return row.rate > 0.0 && state_.shares.is_alone(member.flow) &&
         std::ranges::all_of(state_.shares.route(member.flow), free);
}

bool FlowRings::may_go_at_once(Ring& ring) const {
  const auto edges = static_cast<std::uint32_t>(ring.members.size());
  if (ring.at_once || ring.over == edges) return false;
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
  for (const Member& member : ring.members) {
    if (member.flow == kNone || member.alone || batches_.claim(member.flow)) continue;
    ring.overlaps = true;
    for (const Member& earlier : std::span(ring.members.data(), &member)) {
      if (earlier.flow != kNone && !earlier.alone) batches_.release(earlier.flow);
    }
    return false;
  }
  return true;
}

void FlowRings::go_at_once(Ring& ring) {
  const TimePoint now = state_.engine.now();
  const auto edges = static_cast<std::uint32_t>(ring.members.size());
  ring.at_once = true;
  for (std::uint32_t edge = 0; edge < edges; ++edge) take_state(ring, edge);
  ring.timeline.begin(now, ring.messages);
  const std::span<const TimePoint> ends = ring.timeline.ends(walk_);
  for (std::uint32_t edge = 0; edge < edges; ++edge) {
    const FlowSlot flow = ring.members[edge].flow;
    if (flow != kNone) state_.ends.set(flow, std::max(ends[edge], ends[(edge + edges - 1) % edges]));
  }
}

// The edge at this moment, for the timeline; its message leaves the links.
void FlowRings::take_state(Ring& ring, std::uint32_t edge) {
  Member& member = ring.members[edge];
  if (member.flow == kNone) return;
  FlowRow& row = state_.flows[member.flow];
  RingTimeline::Edge& timed = ring.timeline.edges()[edge];
  timed.latency = row.latency;
  timed.rate = state_.shares.rate_alone(member.flow);
  timed.flies = !member.waits;
  member.moved = row.moving;
  if (row.moving) {
    timed.arrives = row.settled + (row.remaining > 0.0 ? moving_time(row.remaining, row.rate) : Duration());
    for (const LinkShare& hop : state_.shares.route(member.flow)) state_.meters.leave(hop.link, state_.engine.now());
    state_.shares.leave(member.flow);
    row.moving = false;
  } else if (timed.flies) {
    timed.arrives = member.due + RingTimeline::moving_time_of(timed, timed.done);
  }
  member.alone = false;
  row.batched = true;
}

FlowRings::Flight FlowRings::flight(const Ring& ring, std::uint32_t edge, const RingTimeline::Position& position,
                                    TimePoint now) const {
  if (!position.flies) return {};
  const RingTimeline::Edge& timed = ring.timeline.edges()[edge];
  const Member& member = ring.members[edge];
  TimePoint since = position.left + timed.latency;
  if (position.done == timed.done && timed.flies) since = member.moved ? ring.timeline.since() : member.due;
  return {.moves = since <= now, .since = since};
}

// What has arrived since the ring goes at once.
RingTimeline::Work FlowRings::work_of(const Ring& ring, std::uint32_t edge, std::uint32_t done) const {
  const RingTimeline::Edge& timed = ring.timeline.edges()[edge];
  RingTimeline::Work work = RingTimeline::work_of(timed, done);
  if (ring.members[edge].moved && done > timed.done) {
    work.busy += timed.arrives - ring.timeline.since() - RingTimeline::moving_time_of(timed, timed.done);
  }
  return work;
}

void FlowRings::book(const Ring& ring, std::uint32_t edge, std::uint32_t done) {
  const RingTimeline::Work work = work_of(ring, edge, done);
  fast_forwarded_ += done - ring.timeline.edges()[edge].done;
  for (const LinkShare& hop : state_.shares.route(ring.members[edge].flow)) {
    state_.meters.carry(hop.link, hop.share * static_cast<double>(work.bytes.count()));
    state_.meters.add_busy(hop.link, work.busy);
  }
}

void FlowRings::end(FlowSlot flow, std::vector<FlowSlot>& again, Arrivals& arrivals) {
  const RingPlace place = places_[flow];
  Ring& ring = rings_[place.ring];
  state_.flows[flow].batched = false;
  if (ring.members[place.edge].alone) {
    end_alone(flow, ring, place.edge);
    return take_arrival(flow, again, arrivals);
  }
  if (ring.at_once) {
    book(ring, place.edge, ring.messages);
    batches_.release(flow);
  }
  release(ring.members[place.edge]);
  report(ring, place.edge, arrivals);
  if (ring.over == ring.members.size()) free_.push_back(place.ring);
}

void FlowRings::end_alone(FlowSlot flow, Ring& ring, std::uint32_t edge) {
  const FlowRow& row = state_.flows[flow];
  ring.members[edge].alone = false;
  batches_.release(flow);
  for (const LinkShare& hop : state_.shares.route(flow)) {
    state_.meters.carry(hop.link, hop.share * row.bytes);
    state_.meters.add_busy(hop.link, state_.engine.now() - ring.members[edge].due);
  }
}

// True: it has to enter its links now.
bool FlowRings::split_alone(FlowSlot flow, Member& member, double rate) {
  FlowRow& row = state_.flows[flow];
  const TimePoint now = state_.engine.now();
  const TimePoint arrives = member.due + moving_time(row.bytes, rate);
  if (arrives == now) return false;  // it is about to be notified
  member.alone = row.batched = false;
  batches_.release(flow);
  if (now < member.due) {
    state_.ends.set(flow, member.due);
    return false;
  }
  for (const LinkShare& hop : state_.shares.route(flow)) state_.meters.add_busy(hop.link, now - member.due);
  row.settled = member.due;
  row.remaining = row.bytes;
  row.rate = rate;
  row.resumed = true;
  return true;
}

std::span<const FlowSlot> FlowRings::split(FlowSlot flow) {
  const RingPlace place = places_[flow];
  Ring& ring = rings_[place.ring];
  entering_.clear();
  if (Member& member = ring.members[place.edge]; member.alone) {
    if (split_alone(flow, member, ring.timeline.edges()[place.edge].rate)) entering_.push_back(flow);
    return entering_;
  }
  if (!ring.at_once) return entering_;  // it was split at this instant, and this edge ends now
  const auto edges = static_cast<std::uint32_t>(ring.members.size());
  ring.at_once = false;
  const TimePoint now = state_.engine.now();
  const std::span<const RingTimeline::Position> positions = ring.timeline.positions(now, walk_);
  for (std::uint32_t edge = 0; edge < edges; ++edge) {
    const Member& member = ring.members[edge];
    if (member.flow == kNone) continue;
    book(ring, edge, positions[edge].done);
    batches_.release(member.flow);
  }
  for (std::uint32_t edge = 0; edge < edges; ++edge) {
    const bool ends_now = positions[edge].done == ring.messages &&
                          positions[(edge + edges - 1) % edges].done == ring.messages;
    if (ring.members[edge].flow != kNone && !ends_now) resume(ring, edge, positions[edge]);
    ring.timeline.edges()[edge].done = positions[edge].done;
  }
  return entering_;
}

// The edge goes on message by message.
void FlowRings::resume(Ring& ring, std::uint32_t edge, const RingTimeline::Position& position) {
  Member& member = ring.members[edge];
  const RingTimeline::Edge& timed = ring.timeline.edges()[edge];
  const FlowSlot flow = member.flow;
  FlowRow& row = state_.flows[flow];
  const TimePoint now = state_.engine.now();
  const bool is_first = position.done == timed.done && timed.flies;
  const Flight message = flight(ring, edge, position, now);
  state_.ends.erase(flow);
  row.batched = false;
  if (position.done == ring.messages) return release(member);
  row.repeats = ring.messages - position.done;
  member.waits = !position.flies;
  if (member.waits) return;
  const bool was_moving = is_first && member.moved;
  if (!is_first) {
    row.bytes = row.remaining = static_cast<double>(RingTimeline::size_of(timed, position.done).count());
    row.settled = message.moves ? message.since : position.left;
    member.due = message.since;
    member.queued = false;
  } else if (message.moves && !was_moving) {
    row.remaining = row.bytes;
    row.settled = member.due;
  }
  if (message.moves) {
    if (!was_moving) row.rate = timed.rate;
    row.resumed = true;
    state_.ends.set(flow, row.settled + moving_time(row.remaining, row.rate));
    for (const LinkShare& hop : state_.shares.route(flow)) {
      state_.meters.add_busy(hop.link, now - message.since);
    }
    entering_.push_back(flow);
  } else if (!member.queued) {
    state_.ends.set(flow, message.since);
  }
}

std::uint64_t FlowRings::phase(FlowSlot flow) const {
  const RingPlace place = places_[flow];
  const Ring& ring = rings_[place.ring];
  const Member& member = ring.members[place.edge];
  return (member.waits ? 1U : 0U) + (ring.at_once && member.moved ? 2U : 0U) + (ring.at_once ? 4U : 0U) +
         (member.alone ? 8U : 0U);
}

void FlowRings::add_to(std::vector<LinkUsage>& usage) const {
  const TimePoint now = state_.engine.now();
  RingTimeline::Walk walk;
  for (const Ring& ring : rings_) {
    if (ring.over == ring.members.size()) continue;
    std::span<const RingTimeline::Position> positions;
    if (ring.at_once) positions = ring.timeline.positions(now, walk);
    for (std::uint32_t edge = 0; edge < ring.members.size(); ++edge) {
      const Member& member = ring.members[edge];
      if (member.flow == kNone || (!ring.at_once && !member.alone)) continue;
      const Carried carried = ring.at_once ? carried_at_once(ring, edge, positions[edge])
                                           : carried_in(now - member.due, ring.timeline.edges()[edge].rate);
      for (const LinkShare& hop : state_.shares.route(member.flow)) {
        usage[hop.link].bytes += hop.share * carried.bytes;
        usage[hop.link].busy += carried.busy;
      }
    }
  }
}

FlowRings::Carried FlowRings::carried_in(Duration time, double rate) {
  if (time <= Duration()) return {};
  return {.bytes = rate * to_seconds(time), .busy = time};
}

FlowRings::Carried FlowRings::carried_at_once(const Ring& ring, std::uint32_t edge,
                                              const RingTimeline::Position& position) const {
  const TimePoint now = state_.engine.now();
  const RingTimeline::Edge& timed = ring.timeline.edges()[edge];
  const RingTimeline::Work work = work_of(ring, edge, position.done);
  Carried carried{.bytes = static_cast<double>(work.bytes.count()), .busy = work.busy};
  const Flight message = flight(ring, edge, position, now);
  if (!message.moves) return carried;
  const FlowRow& row = state_.flows[ring.members[edge].flow];
  const bool was_moving = position.done == timed.done && timed.flies && ring.members[edge].moved;
  carried.bytes += was_moving ? row.bytes - row.remaining_at(now) : timed.rate * to_seconds(now - message.since);
  carried.busy += now - message.since;
  return carried;
}

}  // namespace ringwright::network_models
