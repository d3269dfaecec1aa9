#include "core/engine/tick_queue.h"

#include <algorithm>
#include <bit>

#include "core/base/check.h"

namespace ringwright {

TickQueue::TickQueue() : lists_(kReach, kNone) {}

void TickQueue::postpone(Tick when, TickEvent event) {
  CHECK(when >= now_, "an event cannot be scheduled in the past");
  const auto waits = static_cast<std::uint32_t>(std::min(when - now_, kLongestWait));
  later_.push_back({.when = when, .order = next_order_++, .event = event, .waits = waits});
  std::ranges::push_heap(later_, IsLater());
  brings_from_ = later_.front().when - static_cast<Tick>(kReach) + 1;
}

void TickQueue::bring_near() {
  while (!later_.empty() && later_.front().when - now_ < static_cast<Tick>(kReach)) {
    if (later_.front().when >= kLastTick) break;
    append(later_.front().when, later_.front().event, later_.front().waits);
    std::ranges::pop_heap(later_, IsLater());
    later_.pop_back();
  }
  brings_from_ = later_.empty() ? kLastTick : later_.front().when - static_cast<Tick>(kReach) + 1;
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

bool TickQueue::advance_far() {
  if (later_.empty() || later_.front().when >= kLastTick) return false;
  now_ = later_.front().when;
  bring_near();
  return true;
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
  brings_from_ = kLastTick;
}

}  // namespace ringwright
