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
// and where links can be claimed
//   pass(m, c)       the tick at which a message that enters a claimed link starts there
//   scheduled()      when the current event was scheduled
//   meet_tie()       two messages entered a link at the same tick, by events that were scheduled at the same tick
//   started(...)     accounts for a message that a link starts, and its occupancy
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/base/ticks.h"

namespace ringwright::network_models {

inline constexpr std::uint32_t kNoMessage = UINT32_MAX;
inline constexpr std::uint32_t kUnclaimed = UINT32_MAX;

struct alignas(64) MessageLink {     // one cache line
  std::uint32_t first = kNoMessage;  // waiting
  std::uint32_t last = kNoMessage;
  Tick free_at = 0;
  Tick last_arrival = -1;
  bool last_was_own = false;  // sent by the rank at the link, not passed on
  std::uint32_t claim = kUnclaimed;
  std::int64_t bytes = 0;  // since the start of the run
  Tick busy = 0;
  Tick last_scheduled = 0;  // the event of the last arrival, where links can be claimed
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

  void on_event(std::uint32_t event) {
    const std::uint32_t index = event >> 2U;
    switch (static_cast<What>(event & 3U)) {
      case What::kArrives: arrive(index); break;
      case What::kIsFree: start_waiting(index); break;
      case What::kStarts: start(traffic_.link_of(messages_[index]), index); break;
    }
  }

  void release(std::uint32_t link, Tick free_at) {
    links_[link].claim = kUnclaimed;
    be_busy_until(link, free_at);
  }
  [[nodiscard]] std::uint32_t claim_of(std::uint32_t link) const { return links_[link].claim; }
  // What enters the link from now on asks pass() when it starts, and what waits for it starts when those before have
  // left it. Returns when all of them have.
  Tick claim(std::uint32_t link_index, std::uint32_t claim) {
    MessageLink& link = links_[link_index];
    link.claim = claim;
    for (std::uint32_t waiting = link.first; waiting != kNoMessage; waiting = messages_[waiting].next) {
      at(link.free_at, What::kStarts, waiting);
      link.free_at += traffic_.times(link_index, messages_[waiting]).occupancy;
    }
    link.first = kNoMessage;
    return link.free_at;
  }
  // Messages that were computed elsewhere.
  void carried(std::uint32_t link, std::int64_t bytes, Tick busy) {
    links_[link].bytes += bytes;
    links_[link].busy += busy;
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
  // A message reaches its next device, a link is free for the next one that waits, a message starts on its link.
  enum class What : std::uint32_t { kArrives, kIsFree, kStarts };

  void be_busy_until(std::uint32_t link, Tick free_at) {
    links_[link].free_at = std::max(links_[link].free_at, free_at);
  }
  void at(Tick when, What what, std::uint32_t index) {
    traffic_.at(when, index << 2U | static_cast<std::uint32_t>(what));
  }

  static constexpr bool kCanClaim = requires(Traffic traffic, Message message) { traffic.pass(message, kUnclaimed); };

  void enter_link(std::uint32_t index) {
    const std::uint32_t link_index = traffic_.link_of(messages_[index]);
    MessageLink& link = links_[link_index];
    const Tick now = traffic_.now();
    // What one rank sends at once is in the same order on every rank.
    const bool is_own = messages_[index].at_source;
    if (link.last_arrival == now && !(is_own && link.last_was_own)) {
      ties_ = true;
      if constexpr (kCanClaim) {
        if (traffic_.scheduled() == link.last_scheduled) traffic_.meet_tie();
      }
    }
    if constexpr (kCanClaim) link.last_scheduled = traffic_.scheduled();
    link.last_arrival = now;
    link.last_was_own = is_own;
    if (link.claim != kUnclaimed) {
      enter_claimed(link_index, index);
      return;
    }
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

  [[gnu::noinline]] void enter_claimed(std::uint32_t link_index, std::uint32_t index) {
    if constexpr (kCanClaim) {
      const Tick when = traffic_.pass(messages_[index], links_[link_index].claim);
      if (when > traffic_.now()) {
        at(when, What::kStarts, index);
      } else {
        start(link_index, index);
      }
    }
  }

  void start_waiting(std::uint32_t link_index) {
    MessageLink& link = links_[link_index];
    // Since it was asked for, the link was claimed.
    if (link.first == kNoMessage || traffic_.now() < link.free_at) return;
    const std::uint32_t message = link.first;
    link.first = messages_[message].next;
    start(link_index, message);
    if (link.first != kNoMessage) wake_when_free(link_index);
  }

  [[gnu::always_inline]] void start(std::uint32_t link_index,
                                    std::uint32_t index) {  // a twentieth of all instructions otherwise
    MessageLink& link = links_[link_index];
    const Message& message = messages_[index];
    const MessageTimes times = traffic_.times(link_index, message);
    be_busy_until(link_index, traffic_.moment(times.occupancy));
    traffic_.started(link, message, times.occupancy);
    if (message.hops_left > 1) {
      at(traffic_.moment(times.delay), What::kArrives, index);
    } else {
      traffic_.deliver(message, traffic_.moment(times.delay));
      messages_[index].next = free_;
      free_ = index;
    }
  }

  // Only links for which a message waits need an event.
  void wake_when_free(std::uint32_t link_index) { at(links_[link_index].free_at, What::kIsFree, link_index); }

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
