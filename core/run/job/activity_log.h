// What classes of ranks do and when, noted in any order; added up at the end of a run to the time in each mixture of
// activities. The ledger of runs whose times are not found in their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"
#include "core/record/activity_times.h"
#include "core/run/job/activity_profile.h"

namespace ringwright {

class ActivityLog {
 public:
  ActivityLog(std::size_t classes, std::size_t dimensions) : dimensions_(dimensions), of_class_(classes) {}

  void add_compute(ClassId rank_class, TimePoint begin, TimePoint end) { add(rank_class, 0, begin, end); }
  void add_communication(ClassId rank_class, DimensionId dimension, TimePoint begin, TimePoint end) {
    add(rank_class, 1 + dimension.index(), begin, end);
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
  struct OfClass {
    std::vector<Change> changes;
    std::vector<Part> profiles;
  };

  void add(ClassId rank_class, std::size_t bit, TimePoint begin, TimePoint end) {
    std::vector<Change>& changes = of_class_[rank_class.index()].changes;
    changes.push_back({.at = begin, .bit = static_cast<std::uint32_t>(bit), .by = 1});
    changes.push_back({.at = end, .bit = static_cast<std::uint32_t>(bit), .by = -1});
  }
  void book(const std::vector<Part>& profiles, const Span& span, ActivityMask mask, ActivityTimes& time_in);
  void count_whole(const ActivityProfile& profile, ActivityMask mask);

  std::size_t dimensions_;
  std::vector<OfClass> of_class_;
  std::size_t part_ = 0;       // of add_up: the first profile that is not over
  std::vector<Whole> whole_;   // of add_up
};

}  // namespace ringwright
