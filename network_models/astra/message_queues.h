// Links that send whole messages one after another, in order of arrival: ASTRA-sim's congestion-aware rule.
//
// A link that starts a message at T is free at T + size / bandwidth, and the message is at the next device at T +
// latency + size / bandwidth, both rounded down to a nanosecond. There it enters its next link as a whole.
//
// `Traffic` knows clock and routes. It has
//   Message          with `next`, `hops_left` and `at_source`
//   now(), at(T, e)  the clock, in its own ticks; e: an event for on_event()
//   moment(d)        the tick d from now, at most the end of the clock
//   link_of(m)       the link that a message is about to enter
//   times(link, m)   {delay, occupancy} in ticks
//   arrive(m)        moves a message to its next device
//   deliver(m, T)    a message will have passed its last link
//   started(...)     accounts for a message that a link starts, and its occupancy
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/base/ticks.h"

namespace ringwright::network_models {

inline constexpr std::uint32_t kNoMessage = UINT32_MAX;

struct alignas(64) MessageLink {  // one cache line
  std::uint32_t first = kNoMessage;  // waiting
  std::uint32_t last = kNoMessage;
  Tick free_at = 0;
  Tick last_arrival = -1;
  bool last_was_own = false;  // sent by the rank at the link, not passed on
  std::int64_t bytes = 0;     // since the start of the run
  Tick busy = 0;
};

struct MessageTimes {
  Tick delay = 0;
  Tick occupancy = 0;
};

template <class Traffic>
class MessageQueues {
 public:
  using Message = typename Traffic::Message;

  MessageQueues(Traffic& traffic, std::size_t links) : traffic_(traffic), links_(links) {}

  void send(const Message& message) {
    std::uint32_t index = free_;
    if (index == kNoMessage) {
      index = static_cast<std::uint32_t>(messages_.size());
      messages_.emplace_back();
    } else {
      free_ = messages_[index].next;
    }
    messages_[index] = message;
    enter_link(index);
  }

  // Even: a message reaches its next device. Odd: a link is free for the next one that waits.
  void on_event(std::uint32_t event) {
    if ((event & 1U) == 0) {
      arrive(event >> 1U);
      return;
    }
    MessageLink& link = links_[event >> 1U];
    const std::uint32_t message = link.first;
    link.first = messages_[message].next;
    start(event >> 1U, message);
    if (link.first != kNoMessage) wake_when_free(event >> 1U);
  }

  void reset() {
    std::ranges::fill(links_, MessageLink());
    messages_.clear();
    free_ = kNoMessage;
    ties_ = false;
  }

  [[nodiscard]] const std::vector<MessageLink>& links() const { return links_; }
  // Whether two messages reached a link at the same tick, so that their order was decided by the order of events.
  [[nodiscard]] bool met_ties() const { return ties_; }

 private:
  void enter_link(std::uint32_t index) {
    const std::uint32_t link_index = traffic_.link_of(messages_[index]);
    MessageLink& link = links_[link_index];
    const Tick now = traffic_.now();
    // What one rank sends at once is in the same order on every rank.
    const bool is_own = messages_[index].at_source;
    if (link.last_arrival == now && !(is_own && link.last_was_own)) ties_ = true;
    link.last_arrival = now;
    link.last_was_own = is_own;
    if (link.first == kNoMessage && now >= link.free_at) {
      start(link_index, index);
      return;
    }
    messages_[index].next = kNoMessage;
    if (link.first == kNoMessage) {
      link.first = index;
      wake_when_free(link_index);
    } else {
      messages_[link.last].next = index;
    }
    link.last = index;
  }

  void start(std::uint32_t link_index, std::uint32_t index) {
    MessageLink& link = links_[link_index];
    const Message& message = messages_[index];
    const MessageTimes times = traffic_.times(link_index, message);
    link.free_at = traffic_.moment(times.occupancy);
    traffic_.started(link, message, times.occupancy);
    if (message.hops_left > 1) {
      traffic_.at(traffic_.moment(times.delay), index << 1U);
    } else {
      traffic_.deliver(message, traffic_.moment(times.delay));
      messages_[index].next = free_;
      free_ = index;
    }
  }

  // Only links for which a message waits need an event.
  void wake_when_free(std::uint32_t link_index) { traffic_.at(links_[link_index].free_at, link_index << 1U | 1U); }

  void arrive(std::uint32_t index) {
    Message& message = messages_[index];
    --message.hops_left;
    message.at_source = false;
    traffic_.arrive(message);
    enter_link(index);
  }

  Traffic& traffic_;
  std::vector<MessageLink> links_;
  std::vector<Message> messages_;
  std::uint32_t free_ = kNoMessage;
  bool ties_ = false;
};

}  // namespace ringwright::network_models
