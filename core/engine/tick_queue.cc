#include "core/engine/tick_queue.h"

#include <algorithm>
#include <bit>

#include "core/base/check.h"

namespace ringwright {

TickQueue::TickQueue() : lists_(kReach, kNone) {}

void TickQueue::postpone(Tick when, TickEvent event) {
  CHECK(when >= now_, "an event cannot be scheduled in the past");
  later_.push_back({.when = when, .order = next_order_++, .event = event});
  std::ranges::push_heap(later_, IsLater());
}

void TickQueue::bring_near() {
  while (!later_.empty() && later_.front().when - now_ < static_cast<Tick>(kReach)) {
    if (later_.front().when >= kLastTick) return;
    append(later_.front().when, later_.front().event);
    std::ranges::pop_heap(later_, IsLater());
    later_.pop_back();
  }
}

std::size_t TickQueue::distance_to_next() const {
  const std::size_t start = static_cast<std::size_t>(now_) & kMask;
  const std::uint64_t here = words_[start >> 6U] >> (start & 63U);
  if (here != 0) return static_cast<std::size_t>(std::countr_zero(here));
  // Words after this one in ring order, the first word's lower bits last.
  const std::size_t word_count = words_.size();
  std::size_t word = (start >> 6U) + 1;
  for (std::size_t left = word_count; left > 0;) {
    word &= word_count - 1;
    const std::uint64_t group = groups_[word >> 6U] >> (word & 63U);
    if (group == 0) {
      const std::size_t skipped = 64 - (word & 63U);
      word += skipped;
      left -= std::min(left, skipped);
      continue;
    }
    const auto step = static_cast<std::size_t>(std::countr_zero(group));
    if (step >= left) return kReach;
    word += step;
    const std::size_t slot = (word << 6U) + static_cast<std::size_t>(std::countr_zero(words_[word]));
    return (slot - start) & kMask;
  }
  return kReach;
}

std::optional<TickEvent> TickQueue::next() {
  if (last_of(now_) == kNone) {
    if (next_tick_ < kLastTick) {
      now_ = next_tick_;
    } else {
      if (later_.empty() || later_.front().when >= kLastTick) return std::nullopt;
      now_ = later_.front().when;
    }
    bring_near();
  }
  const std::size_t slot = static_cast<std::size_t>(now_) & kMask;
  const std::uint32_t last = lists_[slot];
  const std::uint32_t taken = entries_[last].next;
  Entry& entry = entries_[taken];
  const TickEvent event = entry.event;
  entries_[last].next = entry.next;
  entry.next = free_;
  free_ = taken;
  if (taken == last) {
    lists_[slot] = kNone;
    const std::uint64_t word = words_[slot >> 6U] &= ~(std::uint64_t{1} << (slot & 63U));
    if (word == 0) groups_[slot >> 12U] &= ~(std::uint64_t{1} << ((slot >> 6U) & 63U));
    const std::size_t distance = distance_to_next();
    next_tick_ = distance < kReach ? now_ + static_cast<Tick>(distance) : kLastTick;
  }
  ++events_run_;
  return event;
}

void TickQueue::reset() {
  if (distance_to_next() < kReach) {
    std::ranges::fill(lists_, kNone);
    words_.fill(0);
    groups_.fill(0);
    entries_.clear();
    free_ = kNone;
  }
  later_.clear();
  now_ = 0;
  next_tick_ = kLastTick;
}

}  // namespace ringwright
