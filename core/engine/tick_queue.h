// A queue of compact events on a clock of whole ticks: order is by tick, then by order of scheduling, as in Engine.
//
// For simulations with hundreds of millions of events that each say only "this kind, that index". Events of the next
// 65,536 ticks lie in one list per tick, found through a bitmap; later ones wait in a heap and move into the lists as
// soon as their tick comes within reach, before anything else can be scheduled there. Hence both operations take
// constant time where delays are short.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/ticks.h"

namespace ringwright {

class TickQueue {
 public:
  TickQueue();

  [[nodiscard]] Tick now() const { return now_; }
  // `when` must not lie in the past.
  void at(Tick when, TickEvent event) {
    if (when - now_ < static_cast<Tick>(kReach)) {
      append(when, event, static_cast<std::uint32_t>(when - now_));
    } else {
      postpone(when, event);
    }
  }
  void after(Tick delay, TickEvent event) { at(now_ + delay, event); }
  // The next event, after moving the clock to it; empty when none is left or the next one is at kLastTick or later.
  [[nodiscard]] std::optional<TickEvent> next() {
    if (last_of(now_) == kNone && !advance()) return std::nullopt;
    const std::size_t slot = static_cast<std::size_t>(now_) & kMask;
    const std::uint32_t last = lists_[slot];
    const std::uint32_t taken = entries_[last].next;
    Entry& entry = entries_[taken];
    const TickEvent event = entry.event;
    waited_ = entry.waits;
    entries_[last].next = entry.next;
    entry.next = free_;
    free_ = taken;
    if (taken == last) {
      lists_[slot] = kNone;
      find_next_tick(slot);
    }
    ++events_run_;
    return event;
  }
  // How long ago the last event was scheduled, at most kLongestWait.
  static constexpr Tick kLongestWait = UINT32_MAX;
  [[nodiscard]] Tick waited() const { return waited_; }
  [[nodiscard]] bool has_more_now() const { return last_of(now_) != kNone; }
  // Whether next() returned nothing although events at or after kLastTick are left.
  [[nodiscard]] bool is_out_of_clock() const { return !later_.empty(); }
  // Back to tick 0, with nothing scheduled; memory is retained.
  void reset();
  [[nodiscard]] std::uint64_t events_run() const { return events_run_; }

 private:
  static constexpr std::size_t kReach = std::size_t{1} << 16U;
  static constexpr std::size_t kMask = kReach - 1;
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct Entry {
    TickEvent event;
    std::uint32_t waits = 0;     // ticks from its scheduling
    std::uint32_t next = kNone;  // in its list, from the last one to the first; or the next free one
  };
  struct Later {
    Tick when = 0;
    std::uint64_t order = 0;
    TickEvent event;
    std::uint32_t waits = 0;
  };
  struct IsLater {
    bool operator()(const Later& a, const Later& b) const {
      return a.when != b.when ? a.when > b.when : a.order > b.order;
    }
  };

  [[nodiscard]] std::uint32_t last_of(Tick when) const { return lists_[static_cast<std::size_t>(when) & kMask]; }
  void append(Tick when, TickEvent event, std::uint32_t waits) {
    std::uint32_t index = free_;
    if (index == kNone) {
      index = static_cast<std::uint32_t>(entries_.size());
      entries_.emplace_back();
    } else {
      free_ = entries_[index].next;
    }
    const std::size_t slot = static_cast<std::size_t>(when) & kMask;
    std::uint32_t& last = lists_[slot];
    if (last == kNone) {
      entries_[index] = {.event = event, .waits = waits, .next = index};
      words_[slot >> 6U] |= std::uint64_t{1} << (slot & 63U);
      groups_[slot >> 12U] |= std::uint64_t{1} << ((slot >> 6U) & 63U);
      if (when > now_ && when < next_tick_) next_tick_ = when;
    } else {
      entries_[index] = {.event = event, .waits = waits, .next = entries_[last].next};
      entries_[last].next = index;
    }
    last = index;
  }
  void postpone(Tick when, TickEvent event);
  bool advance() {
    if (next_tick_ == kLastTick) return advance_far();
    now_ = next_tick_;
    if (now_ >= brings_from_) bring_near();
    return true;
  }
  bool advance_far();
  // The list of the current tick has become empty. Without branches, since nothing predicts how far the next one is: in
  // the same word of the bitmap, or in one of the 64 words that follow.
  void find_next_tick(std::size_t slot) {
    const std::size_t word = slot >> 6U;
    const std::uint64_t left = words_[word] &= ~(std::uint64_t{1} << (slot & 63U));
    groups_[slot >> 12U] &= ~(std::uint64_t{left == 0} << (word & 63U));
    const std::uint64_t here = left >> (slot & 63U);
    const std::uint64_t ahead = (groups_[slot >> 12U] >> (word & 63U) >> 1U) |
                                (groups_[((slot >> 12U) + 1) & (groups_.size() - 1)] << (63U - (word & 63U)));
    if ((here | ahead) == 0) [[unlikely]] {
      const std::size_t distance = distance_to_next();
      next_tick_ = distance < kReach ? now_ + static_cast<Tick>(distance) : kLastTick;
      return;
    }
    const std::size_t skipped = static_cast<std::size_t>(std::countr_zero(ahead)) + 1;
    const std::uint64_t there = words_[(word + skipped) & (words_.size() - 1)];
    const std::uint64_t is_there = std::uint64_t{0} - std::uint64_t{here == 0};
    const std::uint64_t bits = here | (there & is_there);
    const std::uint64_t before = (skipped * 64 - (slot & 63U)) & is_there;
    next_tick_ = now_ + static_cast<Tick>(before + static_cast<std::uint64_t>(std::countr_zero(bits)));
  }
  void bring_near();
  // Ticks from now to the next list that holds an event; kReach when there is none.
  [[nodiscard]] std::size_t distance_to_next() const;

  Tick now_ = 0;
  Tick brings_from_ = kLastTick;  // the first tick from which a later event is within reach
  Tick next_tick_ = kLastTick;    // while the list of this tick is empty: the next one with a list; kLastTick: none
  std::uint32_t waited_ = 0;
  std::uint64_t events_run_ = 0;
  std::vector<std::uint32_t> lists_;                   // by tick modulo kReach: the last entry, before the first
  std::array<std::uint64_t, kReach / 64> words_{};     // a bit per list
  std::array<std::uint64_t, kReach / 4096> groups_{};  // a bit per word
  std::vector<Entry> entries_;
  std::uint32_t free_ = kNone;
  std::vector<Later> later_;  // a heap
  std::uint64_t next_order_ = 0;
};

}  // namespace ringwright
