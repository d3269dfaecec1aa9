#include "network_models/flow/completion_queue.h"

#include <algorithm>

#include "core/base/check.h"

namespace ringwright::network_models {

void CompletionQueue::insert(std::uint32_t item, TimePoint when) {
  if (item >= items_.size()) items_.resize(item + 1);
  const std::uint32_t old = items_[item].moment;
  if (old != kNone) {
    if (moments_[old].when == when) return;
    const bool is_alone = items_[item].next == item;
    if (is_alone && !sharing_) {
      move_moment(old, when);
      return;
    }
    erase(item);
  }
  append(item, sharing_ ? shared_moment(when) : new_moment(when, false));
}

void CompletionQueue::erase(std::uint32_t item) {
  if (item >= items_.size() || items_[item].moment == kNone) return;
  const Item entry = items_[item];
  items_[item] = {};
  if (entry.next == item) {
    remove_moment(entry.moment);
    return;
  }
  items_[entry.previous].next = entry.next;
  items_[entry.next].previous = entry.previous;
  if (moments_[entry.moment].first == item) moments_[entry.moment].first = entry.next;
}

void CompletionQueue::pop_earliest(std::vector<std::uint32_t>& items) {
  CHECK(!heap_.empty(), "cannot pop from an empty queue");
  const TimePoint when = heap_.front().when;
  const std::size_t before = items.size();
  while (!heap_.empty() && heap_.front().when == when) {
    const std::uint32_t moment = heap_.front().moment;
    const std::uint32_t first = moments_[moment].first;
    std::uint32_t item = first;
    do {
      const std::uint32_t next = items_[item].next;
      items_[item] = {};
      items.push_back(item);
      item = next;
    } while (item != first);
    remove_moment(moment);
  }
  adapt(items.size() - before);
}

std::uint32_t CompletionQueue::shared_moment(TimePoint when) {
  std::uint32_t moment = by_time_.find(when.since_start());
  if (moment == ProbedTable<Duration>::kNone) {
    moment = new_moment(when, true);
    by_time_.add(when.since_start(), moment);
  }
  last_shared_ = moment;
  return moment;
}

std::uint32_t CompletionQueue::new_moment(TimePoint when, bool shared) {
  std::uint32_t moment = 0;
  if (free_moments_.empty()) {
    moment = static_cast<std::uint32_t>(moments_.size());
    moments_.emplace_back();
  } else {
    moment = free_moments_.back();
    free_moments_.pop_back();
  }
  moments_[moment] = {.when = when, .shared = shared};
  heap_.emplace_back();
  sift_up(heap_.size() - 1, {.when = when, .moment = moment});
  return moment;
}

void CompletionQueue::remove_moment(std::uint32_t moment) {
  Moment& row = moments_[moment];
  if (row.shared) by_time_.remove(row.when.since_start(), moment);
  row.shared = false;
  row.first = kNone;
  free_moments_.push_back(moment);

  const std::size_t place = row.place;
  const HeapEntry last = heap_.back();
  heap_.pop_back();
  if (place == heap_.size()) return;
  if (last.when < row.when) {
    sift_up(place, last);
    return;
  }
  sift_down(place, last);
}

void CompletionQueue::move_moment(std::uint32_t moment, TimePoint when) {
  Moment& row = moments_[moment];
  if (row.shared) by_time_.remove(row.when.since_start(), moment);
  row.shared = false;
  const bool earlier = when < row.when;
  row.when = when;
  if (earlier) {
    sift_up(row.place, {.when = when, .moment = moment});
    return;
  }
  sift_down(row.place, {.when = when, .moment = moment});
}

void CompletionQueue::append(std::uint32_t item, std::uint32_t moment) {
  Moment& row = moments_[moment];
  if (row.first == kNone) {
    row.first = item;
    items_[item] = {.moment = moment, .previous = item, .next = item};
    return;
  }
  join(item, row);
}

void CompletionQueue::set_heap(std::size_t place, const HeapEntry& entry) {
  heap_[place] = entry;
  moments_[entry.moment].place = static_cast<std::uint32_t>(place);
}

void CompletionQueue::sift_up(std::size_t place, const HeapEntry& entry) {
  while (place > 0) {
    const std::size_t parent = (place - 1) / 4;
    if (heap_[parent].when <= entry.when) break;
    set_heap(place, heap_[parent]);
    place = parent;
  }
  set_heap(place, entry);
}

void CompletionQueue::sift_down(std::size_t place, const HeapEntry& entry) {
  while (true) {
    const std::size_t first_child = 4 * place + 1;
    if (first_child >= heap_.size()) break;
    const std::size_t end = std::min(first_child + 4, heap_.size());
    std::size_t least = first_child;
    for (std::size_t child = first_child + 1; child < end; ++child) {
      if (heap_[child].when < heap_[least].when) least = child;
    }
    if (entry.when <= heap_[least].when) break;
    set_heap(place, heap_[least]);
    place = least;
  }
  set_heap(place, entry);
}

// Sharing moments pays off from about four flows a moment; re-evaluated periodically, since traffic changes.
void CompletionQueue::adapt(std::size_t popped) {
  constexpr std::size_t kMomentsPerLook = 256;
  constexpr std::size_t kSharingPays = 4;
  popped_items_ += popped;
  ++popped_moments_;
  if (popped_moments_ < kMomentsPerLook) return;
  sharing_ = popped_items_ >= kSharingPays * popped_moments_;
  popped_items_ = 0;
  popped_moments_ = 0;
}

}  // namespace ringwright::network_models
