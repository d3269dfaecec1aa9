#include "core/run/job/activity_profile.h"

#include <algorithm>
#include <array>
#include <utility>

namespace ringwright {

namespace {

// Consecutive tasks report their changes nearly in order: one is out of position by as many as are in flight at the
// same time.
void put_in_order(std::vector<ActivityProfile::Change>& changes) {
  for (std::size_t i = 1; i < changes.size(); ++i) {
    if (!(changes[i].at < changes[i - 1].at)) continue;
    const ActivityProfile::Change moved = changes[i];
    std::size_t place = i;
    for (; place > 0 && moved.at < changes[place - 1].at; --place) changes[place] = changes[place - 1];
    changes[place] = moved;
  }
}

}  // namespace

ActivityProfile::ActivityProfile(std::vector<Change> changes, Duration length) : length_(length) {
  put_in_order(changes);
  std::array<int, 1 + kMostActivityDimensions> in_flight{};
  ActivityMask mask = 0;
  stretches_.reserve(changes.size() + 1);
  stretches_.push_back({.begin = Duration(0), .mixture = mixture_of(0)});
  for (std::size_t i = 0; i < changes.size();) {
    const Duration at = changes[i].at;
    for (; i < changes.size() && changes[i].at == at; ++i) {
      int& count = in_flight[changes[i].bit];
      count += changes[i].begins ? 1 : -1;
      const ActivityMask bit = ActivityMask{1} << changes[i].bit;
      mask = count > 0 ? mask | bit : mask & ~bit;
    }
    if (mixtures_[stretches_.back().mixture] == mask) continue;
    stretches_.push_back({.begin = at, .mixture = mixture_of(mask)});
  }
  add_up();
}

void ActivityProfile::add_up() {
  const std::size_t row = mixtures_.size();
  before_.reserve(stretches_.size() * row);
  before_.assign(row, Duration(0));
  for (std::size_t s = 1; s < stretches_.size(); ++s) {
    for (std::size_t m = 0; m < row; ++m) before_.push_back(before_[(s - 1) * row + m]);
    before_[s * row + stretches_[s - 1].mixture] += stretches_[s].begin - stretches_[s - 1].begin;
  }
}

std::size_t ActivityProfile::mixture_of(ActivityMask mask) {
  const auto known = std::ranges::find(mixtures_, mask);
  if (known != mixtures_.end()) return static_cast<std::size_t>(known - mixtures_.begin());
  mixtures_.push_back(mask);
  return mixtures_.size() - 1;
}

std::size_t ActivityProfile::stretch_at(Duration moment, std::size_t from) const {
  if (moment == length_) return stretches_.size() - 1;
  // Usually one of the next.
  constexpr std::size_t kNear = 4;
  for (const std::size_t end = std::min(stretches_.size() - 1, from + kNear); from < end; ++from) {
    if (moment < stretches_[from + 1].begin) return from;
  }
  const auto first = stretches_.begin() + static_cast<std::ptrdiff_t>(from) + 1;
  const auto after = std::ranges::upper_bound(first, stretches_.end(), moment, {}, &Stretch::begin);
  return static_cast<std::size_t>(after - stretches_.begin()) - 1;
}

Duration ActivityProfile::spent(std::size_t mixture, std::size_t stretch, Duration moment) const {
  const Duration before = before_[stretch * mixtures_.size() + mixture];
  return stretches_[stretch].mixture == mixture ? before + (moment - stretches_[stretch].begin) : before;
}

}  // namespace ringwright
