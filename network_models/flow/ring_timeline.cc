#include "network_models/flow/ring_timeline.h"

#include <algorithm>
#include <utility>

#include "network_models/flow/completion_queue.h"
#include "network_models/flow/flow_table.h"

namespace ringwright::network_models {

Duration RingTimeline::moving_time_of(const Lane& lane, std::uint32_t message) {
  const Bytes size = size_of(lane, message);
  return size > Bytes(0) ? moving_time(static_cast<double>(size.count()), lane.rate) : Duration();
}

RingTimeline::Work RingTimeline::work_of(const Lane& lane, std::uint32_t end) {
  if (lane.sizes.size() == 1) {
    const std::uint32_t count = end - lane.done;
    return {.bytes = lane.sizes.front() * count, .busy = moving_time_of(lane, 0) * count};
  }
  Work work;
  for (std::uint32_t message = lane.done; message < end; ++message) {
    work.bytes += size_of(lane, message);
    work.busy += moving_time_of(lane, message);
  }
  return work;
}

void RingTimeline::begin(TimePoint since, std::uint32_t messages) {
  since_ = since;
  messages_ = messages;
  regular_from_ = 0;
  for (const Lane& lane : lanes_) regular_from_ = std::max(regular_from_, lane.done + (lane.flies ? 1U : 0U));
}

void RingTimeline::restart(Walk& walk) const {
  walk.message = messages_;
  for (const Lane& lane : lanes_) walk.message = std::min(walk.message, lane.done);
  walk.arrived.assign(lanes_.size(), since_);
  walk.arrives.resize(lanes_.size());
  walk.left.assign(lanes_.size(), since_);
  walk.known.assign(lanes_.size(), {});
}

// The next message of all lanes.
void RingTimeline::take_message(Walk& walk) const {
  TimePoint before = walk.arrived.back();
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    const Lane& lane = lanes_[i];
    const TimePoint own = walk.arrived[i];
    if (walk.message > lane.done || (walk.message == lane.done && !lane.flies)) {
      const Bytes size = size_of(lane, walk.message);
      Walk::Known& known = walk.known[i];
      if (known.size != size) known = {.size = size, .time = lane.latency + moving_time_of(lane, walk.message)};
      walk.left[i] = std::max(own, before);
      walk.arrives[i] = walk.left[i] + known.time;
    } else {
      walk.arrives[i] = walk.message == lane.done ? lane.arrives : since_;
    }
    before = own;
  }
}

// To the last of the messages that arrive until then, if all lanes move on by the same time with each.
void RingTimeline::skip_equal(TimePoint until, Walk& walk) const {
  if (walk.message <= regular_from_ || walk.message + 1 >= messages_ || lanes_.front().sizes.size() > 1) return;
  const Duration step = walk.arrives.front() - walk.arrived.front();
  if (step <= Duration()) return;
  for (std::size_t i = 1; i < lanes_.size(); ++i) {
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
  walk.positions.assign(lanes_.size(), {.done = messages_});
  std::size_t open = lanes_.size();
  for (; walk.message < messages_ && open > 0; ++walk.message) {
    take_message(walk);
    skip_equal(now, walk);
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      if (walk.arrives[i] <= now || walk.positions[i].done < messages_) continue;
      const bool flew = walk.message == lanes_[i].done && lanes_[i].flies;
      walk.positions[i] = {.done = walk.message, .flies = flew || walk.left[i] <= now, .left = walk.left[i]};
      --open;
    }
    std::swap(walk.arrived, walk.arrives);
  }
  return walk.positions;
}

}  // namespace ringwright::network_models
