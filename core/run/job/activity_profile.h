// The activities during a stretch of work whose timeline is known beforehand: which ones, from when to when.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/units.h"
#include "core/record/run_record.h"

namespace ringwright {

class ActivityProfile {
 public:
  // An activity (a bit of the mask) begins or ends; activities of one kind may overlap.
  struct Change {
    Duration at;  // since the beginning
    std::uint8_t bit = 0;
    bool begins = true;
  };
  ActivityProfile() = default;
  ActivityProfile(std::vector<Change> changes, Duration length);

  [[nodiscard]] Duration length() const { return length_; }
  // Adds the time between two moments since the beginning to the mixtures in which it was spent, each combined with the
  // concurrent activities.
  void book(Duration from, Duration to, ActivityMask concurrent, ActivityTimes& time_in) const {
    std::size_t stretch = 0;
    book(from, to, concurrent, time_in, stretch);
  }
  // The same of moments that follow each other. `stretch`: one that has begun by the first moment; afterwards that of
  // the second one.
  void book(Duration from, Duration to, ActivityMask concurrent, ActivityTimes& time_in, std::size_t& stretch) const;

 private:
  struct Stretch {
    Duration begin;
    std::size_t mixture = 0;  // index into mixtures_
  };
  [[nodiscard]] std::size_t mixture_of(ActivityMask mask);
  void add_up();
  // Not before stretch `from`, which has begun by then.
  [[nodiscard]] std::size_t stretch_at(Duration moment, std::size_t from) const;
  // Time spent in a mixture up to a moment within the stretch.
  [[nodiscard]] Duration spent(std::size_t mixture, std::size_t stretch, Duration moment) const;

  Duration length_;
  std::vector<Stretch> stretches_;
  std::vector<ActivityMask> mixtures_;  // different ones
  std::vector<Duration> before_;        // by stretch, by mixture: time spent in it before the stretch begins
};

}  // namespace ringwright
