#include "network_models/flow/flow_rings.h"

#include <algorithm>

#include "core/base/check.h"

namespace ringwright::network_models {

std::uint32_t FlowRings::open(std::uint32_t lanes) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(rings_.size()));
    rings_.emplace_back();
  }
  const std::uint32_t number = free_.back();
  free_.pop_back();
  Ring& ring = rings_[number];
  ring.timeline.lanes().assign(lanes, {});
  ring.members.assign(lanes, {});
  ring.started = ring.over = ring.hindered = 0;
  ring.at_once = ring.overlaps = false;
  return number;
}

void FlowRings::start(RingPlace place, const RingLane& lane, FlowSlot flow) {
  if (flow >= places_.size()) places_.resize(flow + 1);
  places_[flow] = place;
  Ring& ring = rings_[place.ring];
  const FlowRow& row = state_.flows[flow];
  ring.members[place.lane] = {.flow = flow, .listener = row.listener, .token = lane.token, .order = row.order};
  RingTimeline::Lane& timed = ring.timeline.lanes()[place.lane];
  timed.sizes = lane.sizes;
  timed.first = lane.first;
  ring.messages = lane.repeats;
  ++ring.started;
  note(place);
}

std::uint32_t FlowRings::arrived_in(RingPlace place) const {
  const Ring& ring = rings_[place.ring];
  RingTimeline::Walk walk;
  if (!ring.at_once) return ring.timeline.lanes()[place.lane].done;
  return ring.timeline.positions(state_.engine.now(), walk)[place.lane].done;
}

bool FlowRings::set_out(FlowSlot flow) {
  const RingPlace place = places_[flow];
  Ring& ring = rings_[place.ring];
  Member& member = ring.members[place.lane];
  FlowRow& row = state_.flows[flow];
  RingTimeline::Lane& lane = ring.timeline.lanes()[place.lane];
  row.bytes = static_cast<double>(RingTimeline::size_of(lane, lane.done).count());
  row.settled = state_.engine.now();
  member.due = row.settled + row.latency;
  if (place.lane == 0) note(place);
  lane.rate = state_.shares.rate_alone(flow);
  member.alone = go_alone(flow, member.due + RingTimeline::moving_time_of(lane, lane.done));
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
  const Member& member = rings_[place.ring].members[place.lane];
  return member.flow == flow && !row.moving && !row.batched && !member.waits && member.due == state_.engine.now();
}

void FlowRings::take_arrival(FlowSlot flow, std::vector<FlowSlot>& again, Arrivals& arrivals) {
  const RingPlace place = places_[flow];
  Ring& ring = rings_[place.ring];
  std::vector<RingTimeline::Lane>& lanes = ring.timeline.lanes();
  const auto count = static_cast<std::uint32_t>(lanes.size());
  const std::uint32_t before = (place.lane + count - 1) % count;
  const std::uint32_t after = (place.lane + 1) % count;
  Member& member = ring.members[place.lane];
  const std::uint32_t done = ++lanes[place.lane].done;
  --state_.flows[flow].repeats;
  if (done < ring.messages) {
    member.waits = lanes[before].done < done;
    if (!member.waits) again.push_back(flow);
  } else {
    release(member);
    if (lanes[before].done == ring.messages) report(ring, place.lane, arrivals);
  }
  Member& next = ring.members[after];
  if (next.waits && done >= lanes[after].done) {
    next.waits = false;
    again.push_back(next.flow);
  } else if (done == ring.messages && lanes[after].done == ring.messages && next.flow == kNone && !next.over) {
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

void FlowRings::report(Ring& ring, std::uint32_t lane, Arrivals& arrivals) {
  Member& member = ring.members[lane];
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

bool FlowRings::has_free_links(const Ring& ring, std::uint32_t lane) const {
  const Member& member = ring.members[lane];
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
  const auto lanes = static_cast<std::uint32_t>(ring.members.size());
  if (ring.at_once || ring.over == lanes) return false;
  for (std::uint32_t i = 0; i < lanes; ++i) {
    const std::uint32_t lane = (ring.hindered + i) % lanes;
    if (has_free_links(ring, lane)) continue;
    ring.hindered = lane;
    return false;
  }
  return true;
}

// False: its lanes share some, now and always.
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
  const auto lanes = static_cast<std::uint32_t>(ring.members.size());
  ring.at_once = true;
  for (std::uint32_t lane = 0; lane < lanes; ++lane) take_state(ring, lane);
  ring.timeline.begin(now, ring.messages);
  const std::span<const TimePoint> ends = ring.timeline.ends(walk_);
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    const FlowSlot flow = ring.members[lane].flow;
    if (flow != kNone) state_.ends.set(flow, std::max(ends[lane], ends[(lane + lanes - 1) % lanes]));
  }
}

// The lane at this moment, for the timeline; its message leaves the links.
void FlowRings::take_state(Ring& ring, std::uint32_t lane) {
  Member& member = ring.members[lane];
  if (member.flow == kNone) return;
  FlowRow& row = state_.flows[member.flow];
  RingTimeline::Lane& timed = ring.timeline.lanes()[lane];
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

FlowRings::Flight FlowRings::flight(const Ring& ring, std::uint32_t lane, const RingTimeline::Position& position,
                                    TimePoint now) const {
  if (!position.flies) return {};
  const RingTimeline::Lane& timed = ring.timeline.lanes()[lane];
  const Member& member = ring.members[lane];
  TimePoint since = position.left + timed.latency;
  if (position.done == timed.done && timed.flies) since = member.moved ? ring.timeline.since() : member.due;
  return {.moves = since <= now, .since = since};
}

// What has arrived since the ring goes at once.
RingTimeline::Work FlowRings::work_of(const Ring& ring, std::uint32_t lane, std::uint32_t done) const {
  const RingTimeline::Lane& timed = ring.timeline.lanes()[lane];
  RingTimeline::Work work = RingTimeline::work_of(timed, done);
  if (ring.members[lane].moved && done > timed.done) {
    work.busy += timed.arrives - ring.timeline.since() - RingTimeline::moving_time_of(timed, timed.done);
  }
  return work;
}

void FlowRings::book(const Ring& ring, std::uint32_t lane, std::uint32_t done) {
  const RingTimeline::Work work = work_of(ring, lane, done);
  fast_forwarded_ += done - ring.timeline.lanes()[lane].done;
  for (const LinkShare& hop : state_.shares.route(ring.members[lane].flow)) {
    state_.meters.carry(hop.link, hop.share * static_cast<double>(work.bytes.count()));
    state_.meters.add_busy(hop.link, work.busy);
  }
}

void FlowRings::end(FlowSlot flow, std::vector<FlowSlot>& again, Arrivals& arrivals) {
  const RingPlace place = places_[flow];
  Ring& ring = rings_[place.ring];
  state_.flows[flow].batched = false;
  if (ring.members[place.lane].alone) {
    end_alone(flow, ring, place.lane);
    return take_arrival(flow, again, arrivals);
  }
  if (ring.at_once) {
    book(ring, place.lane, ring.messages);
    batches_.release(flow);
  }
  release(ring.members[place.lane]);
  report(ring, place.lane, arrivals);
  if (ring.over == ring.members.size()) free_.push_back(place.ring);
}

void FlowRings::end_alone(FlowSlot flow, Ring& ring, std::uint32_t lane) {
  const FlowRow& row = state_.flows[flow];
  ring.members[lane].alone = false;
  batches_.release(flow);
  for (const LinkShare& hop : state_.shares.route(flow)) {
    state_.meters.carry(hop.link, hop.share * row.bytes);
    state_.meters.add_busy(hop.link, state_.engine.now() - ring.members[lane].due);
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
  if (Member& member = ring.members[place.lane]; member.alone) {
    if (split_alone(flow, member, ring.timeline.lanes()[place.lane].rate)) entering_.push_back(flow);
    return entering_;
  }
  if (!ring.at_once) return entering_;  // it was split at this instant, and this lane ends now
  const auto lanes = static_cast<std::uint32_t>(ring.members.size());
  ring.at_once = false;
  const TimePoint now = state_.engine.now();
  const std::span<const RingTimeline::Position> positions = ring.timeline.positions(now, walk_);
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    const Member& member = ring.members[lane];
    if (member.flow == kNone) continue;
    book(ring, lane, positions[lane].done);
    batches_.release(member.flow);
  }
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    const bool ends_now = positions[lane].done == ring.messages &&
                          positions[(lane + lanes - 1) % lanes].done == ring.messages;
    if (ring.members[lane].flow != kNone && !ends_now) resume(ring, lane, positions[lane]);
    ring.timeline.lanes()[lane].done = positions[lane].done;
  }
  return entering_;
}

// The lane goes on message by message.
void FlowRings::resume(Ring& ring, std::uint32_t lane, const RingTimeline::Position& position) {
  Member& member = ring.members[lane];
  const RingTimeline::Lane& timed = ring.timeline.lanes()[lane];
  const FlowSlot flow = member.flow;
  FlowRow& row = state_.flows[flow];
  const TimePoint now = state_.engine.now();
  const bool is_first = position.done == timed.done && timed.flies;
  const Flight message = flight(ring, lane, position, now);
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
  const Member& member = ring.members[place.lane];
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
    for (std::uint32_t lane = 0; lane < ring.members.size(); ++lane) {
      const Member& member = ring.members[lane];
      if (member.flow == kNone || (!ring.at_once && !member.alone)) continue;
      const Carried carried = ring.at_once ? carried_at_once(ring, lane, positions[lane])
                                           : carried_in(now - member.due, ring.timeline.lanes()[lane].rate);
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

FlowRings::Carried FlowRings::carried_at_once(const Ring& ring, std::uint32_t lane,
                                              const RingTimeline::Position& position) const {
  const TimePoint now = state_.engine.now();
  const RingTimeline::Lane& timed = ring.timeline.lanes()[lane];
  const RingTimeline::Work work = work_of(ring, lane, position.done);
  Carried carried{.bytes = static_cast<double>(work.bytes.count()), .busy = work.busy};
  const Flight message = flight(ring, lane, position, now);
  if (!message.moves) return carried;
  const FlowRow& row = state_.flows[ring.members[lane].flow];
  const bool was_moving = position.done == timed.done && timed.flies && ring.members[lane].moved;
  carried.bytes += was_moving ? row.bytes - row.remaining_at(now) : timed.rate * to_seconds(now - message.since);
  carried.busy += now - message.since;
  return carried;
}

}  // namespace ringwright::network_models
