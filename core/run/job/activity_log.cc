#include "core/run/job/activity_log.h"

#include <algorithm>

namespace ringwright {

// The time in which any of the channels, all of one bit, has a message in flight.
void ActivityLog::add_together(std::span<Channel> channels) {
  ahead_.clear();
  for (const Channel& channel : channels) {
    const Flight* const first = channel.flights.data();
    if (!channel.flights.empty()) ahead_.push_back({.next = first, .end = first + channel.flights.size()});
  }
  Flight together;
  bool any = false;
  while (!ahead_.empty()) {
    Ahead* first = ahead_.data();
    for (Ahead& channel : std::span(ahead_).subspan(1)) {
      if (channel.next->begin < first->next->begin) first = &channel;
    }
    const Flight flight = *first->next;
    if (++first->next == first->end) {
      *first = ahead_.back();
      ahead_.pop_back();
    }
    if (any && flight.begin <= together.end) {
      together.end = std::max(together.end, flight.end);
      continue;
    }
    if (any) add(flights_, channels.front().bit, together);
    together = flight;
    any = true;
  }
  if (any) add(flights_, channels.front().bit, together);
}

// What changes at one moment may do so in any order: no time passes.
void ActivityLog::put_in_order(OfClass& of_class) {
  std::ranges::sort(of_class.changes, {}, &Change::at);
  std::ranges::sort(of_class.channels, {}, &Channel::bit);
  in_order_ = of_class.changes;
  for (auto first = of_class.channels.begin(); first != of_class.channels.end();) {
    const auto last = std::ranges::find_if(first, of_class.channels.end(),
                                           [first](const Channel& channel) { return channel.bit != first->bit; });
    flights_.clear();
    add_together({first, last});
    const auto middle = static_cast<std::ptrdiff_t>(in_order_.size());
    in_order_.insert(in_order_.end(), flights_.begin(), flights_.end());
    std::ranges::inplace_merge(in_order_, in_order_.begin() + middle, {}, &Change::at);
    first = last;
  }
}

bool ActivityLog::add_up(ClassId rank_class, const Span& span, ActivityTimes& time_in) {
  OfClass& of_class = of_class_[rank_class.index()];
  const std::vector<Part>& profiles = of_class.profiles;
  put_in_order(of_class);
  const bool go_on = !in_order_.empty() && in_order_.back().at > span.to;
  if (go_on || (!profiles.empty() && profiles.back().end() > span.to)) return false;
  part_ = 0;
  stretch_ = 0;
  whole_.clear();
  MixtureSums sums;
  book_profiles(profiles, span, sums);
  std::vector<std::int32_t> in_flight(1 + dimensions_, 0);
  ActivityMask mask = 0;
  TimePoint since = span.from;
  for (const Change& change : in_order_) {
    const ActivityMask bit = ActivityMask{1} << change.bit;
    const ActivityMask changed = (in_flight[change.bit] += change.by) > 0 ? mask | bit : mask & ~bit;
    if (changed == mask) continue;
    if (change.at > since) {
      if (mask != 0) overlay(profiles, {.from = since, .to = change.at}, mask, sums);
      since = change.at;
    }
    mask = changed;
  }
  if (mask != 0) overlay(profiles, {.from = since, .to = span.to}, mask, sums);
  for (const Whole& whole : whole_) {
    ActivityTimes once;
    whole.profile->book(Duration(), whole.profile->length(), whole.mask, once);
    for (const ActivityTimes::Entry& entry : once.entries()) sums.add(entry.mask, entry.time * whole.times);
  }
  sums.add_to(time_in);
  return true;
}

// As if nothing else went on.
void ActivityLog::book_profiles(const std::vector<Part>& profiles, const Span& span, MixtureSums& sums) {
  Duration idle = span.to - span.from;
  for (const Part& part : profiles) {
    if (part.end() <= span.from) continue;
    if (part.begin >= span.from) {
      count_whole(*part.profile, 0, 1);
      idle -= part.profile->length();
      continue;
    }
    std::size_t stretch = 0;
    part.profile->book(span.from - part.begin, part.profile->length(), 0, sums, stretch);
    idle -= part.end() - span.from;
  }
  sums.add(0, idle);
}

// These activities go on during the span, in addition to what the profiles have there.
void ActivityLog::overlay(const std::vector<Part>& profiles, const Span& span, ActivityMask mask, MixtureSums& sums) {
  MovedTimes moved{.sums = sums, .added = mask};
  for (TimePoint since = span.from; since < span.to;) {
    while (part_ < profiles.size() && profiles[part_].end() <= since) {
      ++part_;
      stretch_ = 0;
    }
    TimePoint stop = span.to;
    if (part_ == profiles.size() || profiles[part_].begin > since) {
      if (part_ < profiles.size()) stop = std::min(stop, profiles[part_].begin);
      moved.add(0, stop - since);
    } else {
      const Part& part = profiles[part_];
      stop = std::min(stop, part.end());
      if (since == part.begin && stop == part.end()) {
        count_whole(*part.profile, 0, -1);
        count_whole(*part.profile, mask, 1);
      } else {
        part.profile->book(since - part.begin, stop - part.begin, 0, moved, stretch_);
      }
    }
    since = stop;
  }
}

void ActivityLog::count_whole(const ActivityProfile& profile, ActivityMask mask, std::int64_t times) {
  const auto known = std::ranges::find_if(
      whole_, [&](const Whole& whole) { return whole.profile == &profile && whole.mask == mask; });
  if (known != whole_.end()) {
    known->times += times;
  } else {
    whole_.push_back({.profile = &profile, .mask = mask, .times = times});
  }
}

}  // namespace ringwright
