// The queue of flow ends: a heap of moments, each with the list of flows that end then.
//
// Training traffic runs in lock-step: hundreds of flows end at the same picosecond. The queue therefore keeps a 4-ary
// heap of *distinct* moments, found by hash, and a linked list of flows for each; a flow is inserted, moved and removed
// in constant time for any number of pending flows, and the heap is touched once per moment. Where flows end one by one
// the hash is pure overhead: when fewer than four flows share a moment on average, new entries get their own moment and
// the structure is an ordinary indexed heap, in which a flow's end is moved in place.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "core/base/units.h"
#include "network_models/solver/probed_table.h"

namespace ringwright::network_models {

inline constexpr TimePoint kNever = TimePoint(Duration(std::numeric_limits<std::int64_t>::max()));

class CompletionQueue {
 public:
  // Inserts the item, or moves it. Items are numbered densely by the caller.
  void set(std::uint32_t item, TimePoint when) {
    const bool is_new = item < items_.size() && items_[item].moment == kNone;
    if (is_new && sharing_ && last_shared_ != kNone) [[likely]] {
      Moment& moment = moments_[last_shared_];
      if (moment.shared && moment.when == when) return join(item, moment);
    }
    insert(item, when);
  }
  void prefetch(std::uint32_t item) const { __builtin_prefetch(items_.data() + item); }
  // Removes the item, if it is present.
  void erase(std::uint32_t item);

  [[nodiscard]] TimePoint earliest() const { return heap_.empty() ? kNever : heap_.front().when; }
  // Appends all items of the earliest moment, and removes them. Not for an empty queue. Their order is undefined.
  void pop_earliest(std::vector<std::uint32_t>& items);

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  struct alignas(16) Item {
    std::uint32_t moment = kNone;
    std::uint32_t previous = kNone;  // in a ring of the moment's items
    std::uint32_t next = kNone;
  };
  struct Moment {
    TimePoint when;
    std::uint32_t place = 0;  // in the heap
    std::uint32_t first = kNone;
    bool shared = false;      // found by hash
  };
  struct HeapEntry {
    TimePoint when;
    std::uint32_t moment;
  };

  // Last among the items of a moment that has some.
  void join(std::uint32_t item, const Moment& moment) {
    const std::uint32_t last = items_[moment.first].previous;
    Item& row = items_[item];
    row.moment = items_[last].moment;
    row.previous = last;
    row.next = moment.first;
    items_[last].next = item;
    items_[moment.first].previous = item;
  }
  void insert(std::uint32_t item, TimePoint when);
  [[nodiscard]] std::uint32_t shared_moment(TimePoint when);
  [[nodiscard]] std::uint32_t new_moment(TimePoint when, bool shared);
  void remove_moment(std::uint32_t moment);
  void move_moment(std::uint32_t moment, TimePoint when);
  void append(std::uint32_t item, std::uint32_t moment);
  void set_heap(std::size_t place, const HeapEntry& entry);
  void sift_up(std::size_t place, const HeapEntry& entry);
  void sift_down(std::size_t place, const HeapEntry& entry);
  void adapt(std::size_t popped);

  std::vector<Item> items_;
  std::vector<Moment> moments_;
  std::vector<std::uint32_t> free_moments_;
  std::vector<HeapEntry> heap_;
  ProbedTable<Duration> by_time_;
  std::uint32_t last_shared_ = kNone;  // of the latest item: the next one often goes there too
  bool sharing_ = true;
  std::size_t popped_items_ = 0;       // since the last check whether sharing pays off
  std::size_t popped_moments_ = 0;
};

}  // namespace ringwright::network_models
