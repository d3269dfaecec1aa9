// The events that are pending, in order of time and then of scheduling: a heap of moments, each with a list of events.
//
// Ranks in lock-step schedule many events for the same picosecond. An event for a moment that was asked for recently
// joins its list, without the heap. A moment that has been forgotten meanwhile is made a second time: all events of the
// first one were scheduled before those of the second, so that moments of equal time are in order of their making.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/base/units.h"
#include "core/engine/action.h"

namespace ringwright {

struct EventId {
  std::uint32_t slot = 0;
  std::uint64_t order = 0;
};

class EventQueue {
 public:
  EventQueue() { recent_.fill(kNone); }

  EventId push(TimePoint when, const Action& action);
  // False: it has already been popped or was cancelled.
  bool cancel(EventId id);

  [[nodiscard]] bool empty() const { return heap_.empty(); }
  // Of the first event, which may be cancelled. Not for an empty queue.
  [[nodiscard]] TimePoint earliest() const { return heap_.front().when; }
  [[nodiscard]] bool is_earliest_cancelled() const {
    return slots_[moments_[heap_.front().moment].first].order == kCancelled;
  }
  // The first event; its order is 0 if it was cancelled.
  struct Event {
    TimePoint when;
    std::uint64_t order = 0;
    Action action;
  };
  [[nodiscard]] Event pop();

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::uint64_t kCancelled = 0;
  static constexpr unsigned kRecentBits = 9;

  struct Slot {
    Action action;
    std::uint64_t order = kCancelled;
    std::uint32_t next = kNone;  // of the same moment
  };
  struct Moment {
    TimePoint when;
    std::uint32_t first = kNone;  // slots; kNone: free
    std::uint32_t last = kNone;
  };
  struct Entry {
    TimePoint when;
    std::uint64_t order = 0;  // of the moment's first event when it was made
    std::uint32_t moment = 0;
    [[nodiscard]] bool is_before(const Entry& other) const {
      return when != other.when ? when < other.when : order < other.order;
    }
  };

  [[nodiscard]] std::uint32_t take_slot();
  void add_moment(TimePoint when, std::uint32_t slot);
  void push_entry(const Entry& entry);
  void pop_entry();
  [[nodiscard]] static std::size_t place_of(TimePoint when) {
    constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;  // 2^64 over the golden ratio (Knuth, volume 3, 6.4)
    return static_cast<std::size_t>(static_cast<std::uint64_t>(when.since_start().count()) * kGolden >>
                                    (64U - kRecentBits));
  }

  std::uint64_t next_order_ = 1;
  std::vector<Entry> heap_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_slots_;
  std::vector<Moment> moments_;
  std::vector<std::uint32_t> free_moments_;
  // The last moment made for a time that hashes to this place, perhaps popped since.
  std::array<std::uint32_t, std::size_t{1} << kRecentBits> recent_;
};

}  // namespace ringwright
