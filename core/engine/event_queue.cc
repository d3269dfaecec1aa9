#include "core/engine/event_queue.h"

#include <algorithm>

namespace ringwright {
namespace {

// A heap of four children to a parent is half as deep as one of two, and the children are next to each other.
constexpr std::size_t kChildren = 4;

}  // namespace

EventId EventQueue::push(TimePoint when, const Action& action) {
  const std::uint32_t slot = take_slot();
  const std::uint64_t order = next_order_++;
  slots_[slot] = {.action = action, .order = order};
  const std::uint32_t recent = recent_[place_of(when)];
  if (recent != kNone && moments_[recent].first != kNone && moments_[recent].when == when) {
    slots_[moments_[recent].last].next = slot;
    moments_[recent].last = slot;
  } else {
    add_moment(when, slot);
  }
  return {.slot = slot, .order = order};
}

std::uint32_t EventQueue::take_slot() {
  if (free_slots_.empty()) {
    slots_.emplace_back();
    return static_cast<std::uint32_t>(slots_.size() - 1);
  }
  const std::uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  return slot;
}

void EventQueue::add_moment(TimePoint when, std::uint32_t slot) {
  if (free_moments_.empty()) {
    free_moments_.push_back(static_cast<std::uint32_t>(moments_.size()));
    moments_.emplace_back();
  }
  const std::uint32_t moment = free_moments_.back();
  free_moments_.pop_back();
  moments_[moment] = {.when = when, .first = slot, .last = slot};
  recent_[place_of(when)] = moment;
  push_entry({.when = when, .order = slots_[slot].order, .moment = moment});
}

bool EventQueue::cancel(EventId id) {
  if (id.order == kCancelled || id.slot >= slots_.size() || slots_[id.slot].order != id.order) return false;
  slots_[id.slot].order = kCancelled;  // it stays in its moment's list until it is popped
  return true;
}

EventQueue::Event EventQueue::pop() {
  const std::uint32_t number = heap_.front().moment;
  Moment& moment = moments_[number];
  const std::uint32_t first = moment.first;
  Slot& slot = slots_[first];
  const Event event{.when = moment.when, .order = slot.order, .action = slot.action};
  moment.first = slot.next;
  slot.order = kCancelled;
  free_slots_.push_back(first);
  if (moment.first == kNone) {
    free_moments_.push_back(number);
    pop_entry();
  }
  return event;
}

void EventQueue::push_entry(const Entry& entry) {
  heap_.push_back(entry);
  std::size_t place = heap_.size() - 1;
  while (place > 0) {
    const std::size_t parent = (place - 1) / kChildren;
    if (!entry.is_before(heap_[parent])) break;
    heap_[place] = heap_[parent];
    place = parent;
  }
  heap_[place] = entry;
}

void EventQueue::pop_entry() {
  const Entry last = heap_.back();
  heap_.pop_back();
  const std::size_t size = heap_.size();
  if (size == 0) return;
  std::size_t place = 0;
  for (std::size_t child = 1; child < size; child = kChildren * place + 1) {
    std::size_t least = child;
    for (std::size_t other = child + 1; other < std::min(child + kChildren, size); ++other) {
      if (heap_[other].is_before(heap_[least])) least = other;
    }
    if (!heap_[least].is_before(last)) break;
    heap_[place] = heap_[least];
    place = least;
  }
  heap_[place] = last;
}

}  // namespace ringwright
