#include "core/run/job/activity_log.h"

#include <algorithm>

namespace ringwright {

bool ActivityLog::add_up(ClassId rank_class, const Span& span, ActivityTimes& time_in) {
  auto& [changes, profiles] = of_class_[rank_class.index()];
  // What changes at one moment may do so in any order: no time passes.
  std::ranges::sort(changes, {}, &Change::at);
  if (!changes.empty() && changes.back().at > span.to) return false;
  part_ = 0;
  whole_.clear();
  std::vector<std::int32_t> in_flight(1 + dimensions_, 0);
  ActivityMask mask = 0;
  TimePoint since = span.from;
  for (const Change& change : changes) {
    const ActivityMask bit = ActivityMask{1} << change.bit;
    const ActivityMask changed = (in_flight[change.bit] += change.by) > 0 ? mask | bit : mask & ~bit;
    if (changed == mask) continue;
    if (change.at > since) {
      book(profiles, {.from = since, .to = change.at}, mask, time_in);
      since = change.at;
    }
    mask = changed;
  }
  book(profiles, {.from = since, .to = span.to}, mask, time_in);
  for (const Whole& whole : whole_) {
    ActivityTimes once;
    whole.profile->book(Duration(), whole.profile->length(), whole.mask, once);
    time_in.add_between({}, once, whole.times);
  }
  return part_ == profiles.size() || profiles.back().end() <= span.to;
}

void ActivityLog::book(const std::vector<Part>& profiles, const Span& span, ActivityMask mask,
                       ActivityTimes& time_in) {
  for (TimePoint since = span.from; since < span.to;) {
    while (part_ < profiles.size() && profiles[part_].end() <= since) ++part_;
    TimePoint stop = span.to;
    if (part_ == profiles.size() || profiles[part_].begin > since) {
      if (part_ < profiles.size()) stop = std::min(stop, profiles[part_].begin);
      time_in.add(mask, stop - since);
    } else {
      const Part& part = profiles[part_];
      stop = std::min(stop, part.end());
      if (since == part.begin && stop == part.end()) {
        count_whole(*part.profile, mask);
      } else {
        part.profile->book(since - part.begin, stop - part.begin, mask, time_in);
      }
    }
    since = stop;
  }
}

void ActivityLog::count_whole(const ActivityProfile& profile, ActivityMask mask) {
  const auto known = std::ranges::find_if(
      whole_, [&](const Whole& whole) { return whole.profile == &profile && whole.mask == mask; });
  if (known != whole_.end()) {
    ++known->times;
  } else {
    whole_.push_back({.profile = &profile, .mask = mask, .times = 1});
  }
}

}  // namespace ringwright
