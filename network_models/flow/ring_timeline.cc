#include "network_models/flow/ring_timeline.h"

#include <algorithm>
#include <utility>

#include "network_models/flow/completion_queue.h"
#include "network_models/flow/flow_table.h"

namespace ringwright::network_models {

Duration RingTimeline::moving_time_of(const Edge& edge, std::uint32_t message) {
  const Bytes size = size_of(edge, message);
  return size > Bytes(0) ? moving_time(static_cast<double>(size.count()), edge.rate) : Duration();
}

RingTimeline::Work RingTimeline::work_of(const Edge& edge, std::uint32_t end) {
  if (edge.sizes.size() == 1) {
    const std::uint32_t count = end - edge.done;
    return {.bytes = edge.sizes.front() * count, .busy = moving_time_of(edge, 0) * count};
  }
  Work work;
  Walk::Known known;
  for (std::uint32_t message = edge.done; message < end; ++message) {
    const Bytes size = size_of(edge, message);
    if (known.size != size) known = {.size = size, .time = moving_time_of(edge, message)};
    work.bytes += size;
    work.busy += known.time;
  }
  return work;
}

void RingTimeline::begin(TimePoint since, std::uint32_t messages) {
  since_ = since;
  messages_ = messages;
  regular_from_ = 0;
  uniform_ = std::ranges::all_of(edges_, [](const Edge& edge) { return edge.sizes.size() == 1; });
  for (const Edge& edge : edges_) regular_from_ = std::max(regular_from_, edge.done + (edge.flies ? 1U : 0U));
}

void RingTimeline::restart(Walk& walk) const {
  walk.message = messages_;
  for (const Edge& edge : edges_) walk.message = std::min(walk.message, edge.done);
  walk.arrived.assign(edges_.size(), since_);
  walk.arrives.resize(edges_.size());
  walk.left.assign(edges_.size(), since_);
  walk.known.assign(edges_.size(), {});
}

// The next message of all edges.
void RingTimeline::take_message(Walk& walk) const {
  for (std::uint32_t member = 0; member < shape_->members(); ++member) {
    TimePoint begins = since_;
    for (const std::uint32_t edge : shape_->awaited_by(member)) begins = std::max(begins, walk.arrived[edge]);
    for (std::uint32_t edge = shape_->first_edge(member); edge < shape_->end_edge(member); ++edge) {
      walk.arrives[edge] = take_edge(edge, begins, walk);
    }
  }
}

// When the edge's next message arrives, if it leaves then or left before `since`.
TimePoint RingTimeline::take_edge(std::uint32_t number, TimePoint begins, Walk& walk) const {
  const Edge& edge = edges_[number];
  if (walk.message < edge.done) return since_;
  if (walk.message == edge.done && edge.flies) return edge.arrives;
  const Bytes size = size_of(edge, walk.message);
  Walk::Known& known = walk.known[number];
  if (known.size != size) known = {.size = size, .time = edge.latency + moving_time_of(edge, walk.message)};
  walk.left[number] = begins;
  return begins + known.time;
}

// To the last of the messages that arrive until then, if all edges move on by the same time with each.
void RingTimeline::skip_equal(TimePoint until, Walk& walk) const {
  if (walk.message <= regular_from_ || walk.message + 1 >= messages_ || !uniform_) return;
  const Duration step = walk.arrives.front() - walk.arrived.front();
  if (step <= Duration()) return;
  for (std::size_t i = 1; i < edges_.size(); ++i) {
    if (walk.arrives[i] - walk.arrived[i] != step) return;
  }
  const TimePoint last = *std::ranges::max_element(walk.arrives);
  if (until <= last) return;
  const auto fit = static_cast<std::uint64_t>((until - last).count() / step.count());
  const std::uint64_t skipped = std::min<std::uint64_t>(fit, messages_ - 1 - walk.message);
  for (TimePoint& arrival : walk.arrives) arrival = arrival + step * static_cast<std::int64_t>(skipped);
  walk.message += static_cast<std::uint32_t>(skipped);
}

std::span<const TimePoint> RingTimeline::ends(Walk& walk) const {
  restart(walk);
  for (; walk.message < messages_; ++walk.message) {
    take_message(walk);
    skip_equal(kNever, walk);
    std::swap(walk.arrived, walk.arrives);
  }
  return walk.arrived;
}

std::span<const RingTimeline::Position> RingTimeline::positions(TimePoint now, Walk& walk) const {
  restart(walk);
  walk.positions.assign(edges_.size(), {.done = messages_});
  std::size_t open = edges_.size();
  for (; walk.message < messages_ && open > 0; ++walk.message) {
    take_message(walk);
    skip_equal(now, walk);
    for (std::size_t i = 0; i < edges_.size(); ++i) {
      if (walk.arrives[i] <= now || walk.positions[i].done < messages_) continue;
      const bool flew = walk.message == edges_[i].done && edges_[i].flies;
      walk.positions[i] = {.done = walk.message, .flies = flew || walk.left[i] <= now, .left = walk.left[i]};
      --open;
    }
    std::swap(walk.arrived, walk.arrives);
  }
  return walk.positions;
}

}  // namespace ringwright::network_models
