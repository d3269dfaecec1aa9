#include "core/run/activity_profile.h"

#include <algorithm>
#include <array>
#include <utility>

namespace ringwright {

ActivityProfile::ActivityProfile(std::vector<Change> changes, Duration length) : length_(length) {
  // Tasks that follow each other have told them in order already.
  if (!std::ranges::is_sorted(changes, {}, &Change::at)) std::ranges::sort(changes, {}, &Change::at);
  std::array<int, 32> under_way{};
  ActivityMask mask = 0;
  stretches_.push_back({.begin = Duration(0), .mixture = mixture_of(0)});
  for (std::size_t i = 0; i < changes.size();) {
    const Duration at = changes[i].at;
    for (; i < changes.size() && changes[i].at == at; ++i) {
      int& count = under_way[changes[i].bit];
      count += changes[i].begins ? 1 : -1;
      const ActivityMask bit = ActivityMask{1} << changes[i].bit;
      mask = count > 0 ? mask | bit : mask & ~bit;
    }
    if (mixtures_[stretches_.back().mixture] == mask) continue;
    stretches_.push_back({.begin = at, .mixture = mixture_of(mask)});
  }
  const std::size_t row = mixtures_.size();
  before_.assign(stretches_.size() * row, Duration(0));
  for (std::size_t s = 1; s < stretches_.size(); ++s) {
    const Stretch& last = stretches_[s - 1];
    std::copy_n(before_.begin() + static_cast<std::ptrdiff_t>((s - 1) * row), row,
                before_.begin() + static_cast<std::ptrdiff_t>(s * row));
    before_[s * row + last.mixture] += stretches_[s].begin - last.begin;
  }
}

std::size_t ActivityProfile::mixture_of(ActivityMask mask) {
  const auto known = std::ranges::find(mixtures_, mask);
  if (known != mixtures_.end()) return static_cast<std::size_t>(known - mixtures_.begin());
  mixtures_.push_back(mask);
  return mixtures_.size() - 1;
}

std::size_t ActivityProfile::stretch_at(Duration moment) const {
  const auto after = std::ranges::upper_bound(stretches_, moment, {}, &Stretch::begin);
  return static_cast<std::size_t>(after - stretches_.begin()) - 1;
}

Duration ActivityProfile::spent(std::size_t mixture, std::size_t stretch, Duration moment) const {
  const Duration before = before_[stretch * mixtures_.size() + mixture];
  return stretches_[stretch].mixture == mixture ? before + (moment - stretches_[stretch].begin) : before;
}

void ActivityProfile::book(Duration from, Duration to, ActivityMask beside, std::vector<Duration>& time_in) const {
  const std::size_t last = to == length_ ? stretches_.size() - 1 : stretch_at(to);
  for (std::size_t m = 0; m < mixtures_.size(); ++m) time_in[mixtures_[m] | beside] += spent(m, last, to);
  if (from == Duration(0)) return;
  const std::size_t first = stretch_at(from);
  for (std::size_t m = 0; m < mixtures_.size(); ++m) time_in[mixtures_[m] | beside] -= spent(m, first, from);
}

}  // namespace ringwright
