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
  // `time_in`: adds a time to that of a mixture.
  template <class Times>
  void book(Duration from, Duration to, ActivityMask concurrent, Times& time_in, std::size_t& stretch) const {
    const std::size_t first = stretch_at(from, stretch);
    const std::size_t last = stretch_at(to, first);
    stretch = last;
    if (last - first < mixtures_.size()) {
      Duration since = from;
      for (std::size_t s = first; s < last; ++s) {
        time_in.add(mixtures_[stretches_[s].mixture] | concurrent, stretches_[s + 1].begin - since);
        since = stretches_[s + 1].begin;
      }
      time_in.add(mixtures_[stretches_[last].mixture] | concurrent, to - since);
      return;
    }
    for (std::size_t m = 0; m < mixtures_.size(); ++m) {
      time_in.add(mixtures_[m] | concurrent, spent(m, last, to) - spent(m, first, from));
    }
  }

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
