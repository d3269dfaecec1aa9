#include "network_models/flow/ring_in_flight.h"

#include <algorithm>

namespace ringwright::network_models {

void RingInFlight::reset(const RingShape& shape) {
  timeline.reset(shape);
  edges.assign(shape.edges(), {});
  members.assign(shape.members(), {});
  started = over = foreseen = hindered = pause = tries_from = 0;
  at_once = overlaps = false;
}

void RingInFlight::note_split(std::uint32_t done) {
  constexpr std::uint32_t kFew = 2;
  pause = done < kFew ? std::max(2 * pause, 1U) : 0;
  tries_from = timeline.edges().front().done + done + pause;
}

void RingInFlight::enter_step(std::uint32_t member, std::uint32_t step) {
  const auto unknown = [&](std::uint32_t edge) { return edges[edge].announced <= step; };
  members[member].step = step;
  members[member].pending =
      static_cast<std::uint32_t>(std::ranges::count_if(timeline.shape().awaited_by(member), unknown));
}

Duration RingInFlight::moving_time_alone(std::uint32_t edge, std::uint32_t message) {
  const RingTimeline::Edge& timed = timeline.edges()[edge];
  RingTimeline::Walk::Known& last = edges[edge].known;
  const Bytes size = RingTimeline::size_of(timed, message);
  if (last.size != size) last = {.size = size, .time = RingTimeline::moving_time_of(timed, message)};
  return last.time;
}

RingInFlight::Flight RingInFlight::flight(std::uint32_t edge, const RingTimeline::Position& position,
                                          TimePoint now) const {
  if (!position.flies) return {};
  const RingTimeline::Edge& timed = timeline.edges()[edge];
  TimePoint since = position.left + timed.latency;
  if (position.done == timed.done && timed.flies) since = edges[edge].moved ? timeline.since() : edges[edge].due;
  return {.moves = since <= now, .since = since};
}

RingTimeline::Work RingInFlight::work_of(std::uint32_t edge, std::uint32_t done) const {
  const RingTimeline::Edge& timed = timeline.edges()[edge];
  RingTimeline::Work work = RingTimeline::work_of(timed, done);
  if (edges[edge].moved && done > timed.done) {
    work.busy += timed.arrives - timeline.since() - RingTimeline::moving_time_of(timed, timed.done);
  }
  return work;
}

RingInFlight::Carried RingInFlight::carried(std::uint32_t edge, const RingTimeline::Position& position,
                                            const FlowRow& row, TimePoint now) const {
  const RingTimeline::Edge& timed = timeline.edges()[edge];
  const RingTimeline::Work work = work_of(edge, position.done);
  Carried carried{.bytes = static_cast<double>(work.bytes.count()), .busy = work.busy};
  const Flight message = flight(edge, position, now);
  if (!message.moves) return carried;
  const bool was_moving = position.done == timed.done && timed.flies && edges[edge].moved;
  carried.bytes += was_moving ? row.bytes - row.remaining_at(now) : timed.rate * to_seconds(now - message.since);
  carried.busy += now - message.since;
  return carried;
}

}  // namespace ringwright::network_models
