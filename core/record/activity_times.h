// How long a class of ranks spent in each mixture of activities.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"

namespace ringwright {

// What a rank does at a moment, as bits: bit 0 compute, bit 1 + d communication of dimension d in flight.
using ActivityMask = std::uint64_t;
inline constexpr ActivityMask kComputing = 1;
// A mask has a bit for each dimension of a job, and one for compute.
inline constexpr std::size_t kMostActivityDimensions = 63;
[[nodiscard]] constexpr ActivityMask communicating(DimensionId dimension) { return ActivityMask{2} << dimension.value; }

// Only mixtures that occur take memory: few do, of the 2^(1 + dimensions) that could.
class ActivityTimes {
 public:
  struct Entry {
    ActivityMask mask = 0;
    Duration time;
    friend bool operator==(const Entry&, const Entry&) = default;
  };

  ActivityTimes() = default;
  ActivityTimes(std::initializer_list<Entry> entries) {
    for (const Entry& entry : entries) add(entry.mask, entry.time);
  }

  // The time spent in exactly this mixture.
  [[nodiscard]] Duration operator[](ActivityMask mask) const {
    const auto at = std::ranges::lower_bound(entries_, mask, {}, &Entry::mask);
    return at != entries_.end() && at->mask == mask ? at->time : Duration();
  }
  void add(ActivityMask mask, Duration time) {
    const auto at = std::ranges::lower_bound(entries_, mask, {}, &Entry::mask);
    if (at != entries_.end() && at->mask == mask) {
      at->time += time;
    } else if (time != Duration()) {
      entries_.insert(at, {.mask = mask, .time = time});
    }
  }
  void add(const ActivityTimes& other) {
    for (const Entry& entry : other.entries_) add(entry.mask, entry.time);
  }
  // Adds what was spent between two states of one record, so many times. What `begin` holds, `end` holds too.
  void add_between(const ActivityTimes& begin, const ActivityTimes& end, std::int64_t times) {
    for (const Entry& entry : end.entries_) add(entry.mask, (entry.time - begin[entry.mask]) * times);
  }
  void clear() { entries_.clear(); }

  // By mask, ascending; the time of an entry may be zero.
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

  friend bool operator==(const ActivityTimes& a, const ActivityTimes& b) {
    const auto holds_all = [](const ActivityTimes& some, const ActivityTimes& other) {
      return std::ranges::all_of(some.entries_, [&](const Entry& e) { return other[e.mask] == e.time; });
    };
    return holds_all(a, b) && holds_all(b, a);
  }

 private:
  std::vector<Entry> entries_;  // by mask
};

}  // namespace ringwright
