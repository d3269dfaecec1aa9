// What classes of ranks do and when, noted in any order; added up at the end of a run to the time in each mixture of
// activities. The ledger of runs whose times are not found in their order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"
#include "core/record/activity_times.h"
#include "core/run/job/activity_profile.h"

namespace ringwright {

// Times by mixture of few activities, found without a search.
class MixtureSums {
 public:
  void add(ActivityMask mask, Duration time) {
    if (mask < of_few_.size()) {
      of_few_[mask] += time;
    } else {
      others_.add(mask, time);
    }
  }
  void add_to(ActivityTimes& time_in) const {
    for (ActivityMask mask = 0; mask < of_few_.size(); ++mask) {
      if (of_few_[mask] != Duration()) time_in.add(mask, of_few_[mask]);
    }
    time_in.add(others_);
  }

 private:
  static constexpr std::size_t kMixtures = 256;  // of computing and seven dimensions
  std::array<Duration, kMixtures> of_few_{};     // by mask
  ActivityTimes others_;
};

class ActivityLog {
 public:
  ActivityLog(std::size_t classes, std::size_t dimensions) : dimensions_(dimensions), of_class_(classes) {}

  void add_compute(ClassId rank_class, TimePoint begin, TimePoint end) { add(rank_class, 0, begin, end); }
  void add_communication(ClassId rank_class, DimensionId dimension, TimePoint begin, TimePoint end) {
    add(rank_class, bit_of(dimension), begin, end);
  }
  struct Flight {
    TimePoint begin;
    TimePoint end;
  };
  // The messages of a channel at one of its ends, in the order in which they begin; they must outlive the log.
  void add_flights(ClassId rank_class, DimensionId dimension, std::span<const Flight> flights) {
    of_class_[rank_class.index()].channels.push_back({.bit = bit_of(dimension), .flights = flights});
  }
  // The activities of the profile from `begin` on; in order, one after another. The profile must outlive the log.
  void add_profile(ClassId rank_class, const ActivityProfile& profile, TimePoint begin) {
    of_class_[rank_class.index()].profiles.push_back({.profile = &profile, .begin = begin});
  }

  struct Span {
    TimePoint from;
    TimePoint to;
  };
  // The class's times within the span, adding into `time_in`. False: an activity goes on after its end.
  [[nodiscard]] bool add_up(ClassId rank_class, const Span& span, ActivityTimes& time_in);

 private:
  struct Change {
    TimePoint at;
    std::uint32_t bit = 0;
    std::int32_t by = 1;
  };
  struct Part {
    const ActivityProfile* profile = nullptr;
    TimePoint begin;
    [[nodiscard]] TimePoint end() const { return begin + profile->length(); }
  };
  // Whole profiles with the same activities in addition.
  struct Whole {
    const ActivityProfile* profile = nullptr;
    ActivityMask mask = 0;
    std::int64_t times = 0;
  };
  struct Channel {
    std::uint32_t bit = 0;
    std::span<const Flight> flights;
  };
  // Of a channel: flights to come, at least one.
  struct Ahead {
    const Flight* next = nullptr;
    const Flight* end = nullptr;
  };
  struct OfClass {
    std::vector<Change> changes;
    std::vector<Part> profiles;
    std::vector<Channel> channels;
  };

  [[nodiscard]] static std::uint32_t bit_of(DimensionId dimension) { return 1 + dimension.value; }
  void add(ClassId rank_class, std::uint32_t bit, TimePoint begin, TimePoint end) {
    add(of_class_[rank_class.index()].changes, bit, {.begin = begin, .end = end});
  }
  static void add(std::vector<Change>& changes, std::uint32_t bit, const Flight& flight) {
    changes.push_back({.at = flight.begin, .bit = bit, .by = 1});
    changes.push_back({.at = flight.end, .bit = bit, .by = -1});
  }
  void add_together(std::span<Channel> channels);
  // Moves times to mixtures with these activities in addition.
  struct MovedTimes {
    MixtureSums& sums;
    ActivityMask added = 0;
    void add(ActivityMask mask, Duration time) {
      sums.add(mask, Duration() - time);
      sums.add(mask | added, time);
    }
  };
  void put_in_order(OfClass& of_class);
  void book_profiles(const std::vector<Part>& profiles, const Span& span, MixtureSums& sums);
  void overlay(const std::vector<Part>& profiles, const Span& span, ActivityMask mask, MixtureSums& sums);
  void count_whole(const ActivityProfile& profile, ActivityMask mask, std::int64_t times);

  std::size_t dimensions_;
  std::vector<OfClass> of_class_;
  std::size_t part_ = 0;       // of add_up: the first profile that is not over
  std::size_t stretch_ = 0;    // of this profile: one that has begun
  std::vector<Whole> whole_;      // of add_up
  std::vector<Ahead> ahead_;      // the same
  std::vector<Change> in_order_;  // the same: all changes
  std::vector<Change> flights_;   // those of channels
};

}  // namespace ringwright
