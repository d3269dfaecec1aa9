#include "core/run/job/activity_ledger.h"

#include "core/base/check.h"
#include "core/base/random.h"

namespace ringwright {

ActivityLedger::ActivityLedger(std::size_t classes, std::size_t dimensions)
    : bits_(1 + dimensions),
      mask_(classes, 0),
      since_(classes),
      in_flight_(classes * (1 + dimensions), 0),
      timeline_(classes),
      time_in_(classes) {
  CHECK(dimensions <= kMostActivityDimensions, "an activity mask has no bits for more dimensions");
}

void ActivityLedger::begin(ClassId rank_class, std::size_t bit, TimePoint now) {
  const bool first = in_flight_[rank_class.index() * bits_ + bit]++ == 0;
  if (first) switch_bits(rank_class, ActivityMask{1} << bit, 0, now);
  tell(rank_class, bit);
}

void ActivityLedger::end(ClassId rank_class, std::size_t bit, TimePoint now) {
  std::uint16_t& in_flight = in_flight_[rank_class.index() * bits_ + bit];
  CHECK(in_flight > 0, "an activity ends that did not begin");
  if (--in_flight == 0) switch_bits(rank_class, 0, ActivityMask{1} << bit, now);
  tell(rank_class, bit);
}

void ActivityLedger::tell(ClassId rank_class, std::size_t bit) const {
  if (watcher_ == nullptr || bit == 0) return;
  watcher_->on_movement(rank_class, DimensionId(bit - 1), in_flight_[rank_class.index() * bits_ + bit]);
}

void ActivityLedger::begin_profile(ClassId rank_class, const ActivityProfile& profile, TimePoint now) {
  Timeline& timeline = timeline_[rank_class.index()];
  CHECK(timeline.profile == nullptr && !timeline.awaited, "one profile at a time");
  close(rank_class, now);
  timeline.profile = &profile;
  timeline.begin = now;
}

void ActivityLedger::await_profile(ClassId rank_class, TimePoint now) {
  Timeline& timeline = timeline_[rank_class.index()];
  CHECK(timeline.profile == nullptr && !timeline.awaited, "one profile at a time");
  close(rank_class, now);
  timeline.awaited = true;
  timeline.begin = now;
}

void ActivityLedger::provide_profile(ClassId rank_class, const ActivityProfile& profile) {
  Timeline& timeline = timeline_[rank_class.index()];
  timeline.profile = &profile;
  timeline.awaited = false;
  for (const Unbooked& time : timeline.unbooked) {
    profile.book(time.from - timeline.begin, time.to - timeline.begin, time.mask, time_in_[rank_class.index()]);
  }
  timeline.unbooked.clear();
}

void ActivityLedger::put_off(Timeline& timeline, const Unbooked& time) {
  if (time.from == time.to) return;
  if (!timeline.unbooked.empty() && timeline.unbooked.back().mask == time.mask) {
    timeline.unbooked.back().to = time.to;
  } else {
    timeline.unbooked.push_back(time);
  }
}

void ActivityLedger::end_profile(ClassId rank_class, TimePoint now) {
  close(rank_class, now);
  timeline_[rank_class.index()].profile = nullptr;
}

void ActivityLedger::restart(ClassId rank_class, TimePoint now) {
  time_in_[rank_class.index()].clear();
  since_[rank_class.index()] = now;
}

std::uint64_t ActivityLedger::digest(ClassId rank_class) const {
  std::uint64_t hash = mask_[rank_class.index()];
  for (std::size_t bit = 0; bit < bits_; ++bit) hash = mix(hash, in_flight_[rank_class.index() * bits_ + bit]);
  // From the beginning of a profile, whose moment counts elsewhere, to the last change.
  for (const Unbooked& time : timeline_[rank_class.index()].unbooked) {
    if (time.to == since_[rank_class.index()] && time.mask == mask_[rank_class.index()]) continue;
    hash = mix(mix(hash, time.mask), static_cast<std::uint64_t>((time.to - time.from).count()));
  }
  return hash;
}

void ActivityLedger::switch_bits(ClassId rank_class, ActivityMask on, ActivityMask off, TimePoint now) {
  const std::size_t c = rank_class.index();
  if (Timeline& timeline = timeline_[c]; timeline.awaited) {
    put_off(timeline, {.from = since_[c], .to = now, .mask = mask_[c]});
  } else if (timeline.profile != nullptr) {
    timeline.profile->book(since_[c] - timeline.begin, now - timeline.begin, mask_[c], time_in_[c]);
  } else {
    time_in_[c].add(mask_[c], now - since_[c]);
  }
  since_[c] = now;
  mask_[c] = (mask_[c] | on) & ~off;
}

}  // namespace ringwright
