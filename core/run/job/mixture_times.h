// How long each class of ranks spent in each mixture of activities, while times are being added.
//
// The mixtures that occur first have numbers, for all classes: the time of such a mixture is one number in the class's
// row, which costs one miss of the cache where thousands of classes take turns. Others are searched for.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/record/activity_times.h"

namespace ringwright {

class MixtureTimes {
 public:
  explicit MixtureTimes(std::size_t classes) : rows_(classes), times_(classes) { numbered_.reserve(kNumbered); }

  void add(ClassId rank_class, ActivityMask mask, Duration time) {
    const auto number = static_cast<std::size_t>(std::ranges::find(numbered_, mask) - numbered_.begin());
    if (number == kNumbered) return times_[rank_class.index()].add(mask, time);
    if (number == numbered_.size()) numbered_.push_back(mask);
    rows_[rank_class.index()][number] += time;
  }
  // Where times may be added as well.
  [[nodiscard]] ActivityTimes& others(ClassId rank_class) { return times_[rank_class.index()]; }
  void clear(ClassId rank_class) {
    rows_[rank_class.index()] = {};
    times_[rank_class.index()].clear();
  }

  // All times, valid until further ones are added.
  [[nodiscard]] const ActivityTimes& of(ClassId rank_class) {
    Row& row = rows_[rank_class.index()];
    for (std::size_t number = 0; number < numbered_.size(); ++number) {
      times_[rank_class.index()].add(numbered_[number], std::exchange(row[number], Duration()));
    }
    return times_[rank_class.index()];
  }
  [[nodiscard]] const std::vector<ActivityTimes>& all() {
    for (std::size_t c = 0; c < times_.size(); ++c) static_cast<void>(of(ClassId(c)));
    return times_;
  }
  [[nodiscard]] std::vector<ActivityTimes> take() {
    static_cast<void>(all());
    return std::move(times_);
  }

 private:
  static constexpr std::size_t kNumbered = 16;
  using Row = std::array<Duration, kNumbered>;

  std::vector<ActivityMask> numbered_;
  std::vector<Row> rows_;  // by class
  std::vector<ActivityTimes> times_;
};

}  // namespace ringwright
