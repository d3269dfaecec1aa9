#include "core/engine/engine.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/base/check.h"
#include "core/base/random.h"

namespace ringwright {
namespace {

// A heap of four children to a parent: half as deep as one of two, and the children are next to each other.
constexpr std::size_t kHeapChildren = 4;

template <class Entry, class Later>
void push_entry(std::vector<Entry>& heap, const Entry& entry, Later later) {
  heap.push_back(entry);
  std::size_t place = heap.size() - 1;
  while (place > 0) {
    const std::size_t parent = (place - 1) / kHeapChildren;
    if (!later(heap[parent], entry)) break;
    heap[place] = heap[parent];
    place = parent;
  }
  heap[place] = entry;
}

template <class Entry, class Later>
void pop_entry(std::vector<Entry>& heap, Later later) {
  const Entry last = heap.back();
  heap.pop_back();
  const std::size_t size = heap.size();
  if (size == 0) return;
  std::size_t place = 0;
  for (std::size_t child = 1; child < size; child = kHeapChildren * place + 1) {
    std::size_t least = child;
    for (std::size_t other = child + 1; other < std::min(child + kHeapChildren, size); ++other) {
      if (later(heap[least], heap[other])) least = other;
    }
    if (!later(last, heap[least])) break;
    heap[place] = heap[least];
    place = least;
  }
  heap[place] = last;
}

}  // namespace

EventId Engine::at(TimePoint when, Action action) {
  CHECK(when >= now_, "an event cannot be scheduled in the past");
  std::uint32_t slot = 0;
  if (free_slots_.empty()) {
    slot = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  const std::uint64_t order = next_order_++;
  slots_[slot] = {.action = action, .order = order};
  push_entry(heap_, {.when = when, .order = order, .slot = slot}, Later());
  return {.slot = slot, .order = order};
}

bool Engine::cancel(EventId id) {
  if (id.slot >= slots_.size() || slots_[id.slot].order != id.order || id.order == 0) return false;
  // The key stays in the heap and is skipped when popped: its order no longer matches.
  slots_[id.slot].order = 0;
  free_slots_.push_back(id.slot);
  return true;
}

void Engine::at_end_of_instant(Action action) { end_of_instant_.push_back(action); }

bool Engine::end_instant() {
  if (end_of_instant_.empty()) return false;
  ending_.swap(end_of_instant_);
  for (const Action& action : ending_) {
    ++events_this_instant_;
    action();
  }
  ending_.clear();
  return true;
}

void Engine::run_next() {
  const Entry entry = heap_.front();
  pop_entry(heap_, Later());
  Slot& slot = slots_[entry.slot];
  if (slot.order != entry.order) return;  // cancelled
  if (entry.when != now_) events_this_instant_ = 0;
  now_ = entry.when;
  const Action action = slot.action;
  slot.order = 0;
  free_slots_.push_back(entry.slot);
  ++events_run_;
  ++events_this_instant_;
  fingerprint_ = splitmix64(fingerprint_ ^ static_cast<std::uint64_t>(entry.when.since_start().count())) ^ entry.order;
  action();
}

RunEnd Engine::run(RunLimits limits) {
  const std::uint64_t last_event =
      limits.max_events > UINT64_MAX - events_run_ ? UINT64_MAX : events_run_ + limits.max_events;
  while (true) {
    const bool instant_goes_on = !heap_.empty() && heap_.front().when == now_;
    if (!instant_goes_on && end_instant()) {
      if (events_this_instant_ > limits.max_events_per_instant) return RunEnd::kLivelock;
      continue;
    }
    if (heap_.empty() || (stopping_ && !instant_goes_on)) {
      stopping_ = false;
      return RunEnd::kIdle;
    }
    const Entry& next = heap_.front();
    if (is_beyond_clock(next.when) && slots_[next.slot].order == next.order) return RunEnd::kClockRanOut;
    if (events_run_ >= last_event) return RunEnd::kTooManyEvents;
    run_next();
    if (events_this_instant_ > limits.max_events_per_instant) return RunEnd::kLivelock;
  }
}

}  // namespace ringwright
