#include "core/run/job/activity_ledger.h"

#include "core/base/check.h"
#include "core/base/random.h"

namespace ringwright {

ActivityLedger::ActivityLedger(std::size_t classes, std::size_t dimensions)
    : rows_(classes), unbooked_(classes), time_in_(classes) {
  CHECK(dimensions <= kMostActivityDimensions, "an activity mask has no bits for more dimensions");
  for (Row& row : rows_) row.in_flight.assign(1 + dimensions, 0);
}

void ActivityLedger::tell(ClassId rank_class, std::size_t bit) const {
  if (bit == 0) return;
  watcher_->on_movement(rank_class, DimensionId(bit - 1), rows_[rank_class.index()].in_flight[bit]);
}

void ActivityLedger::begin_profile(ClassId rank_class, const ActivityProfile& profile, TimePoint now) {
  Row& row = rows_[rank_class.index()];
  CHECK(row.profile == nullptr && !row.awaits_profile, "one profile at a time");
  close(rank_class, now);
  row.profile = &profile;
  row.profile_begin = now;
}

void ActivityLedger::await_profile(ClassId rank_class, TimePoint now) {
  Row& row = rows_[rank_class.index()];
  CHECK(row.profile == nullptr && !row.awaits_profile, "one profile at a time");
  close(rank_class, now);
  row.awaits_profile = true;
  row.profile_begin = now;
}

void ActivityLedger::provide_profile(ClassId rank_class, const ActivityProfile& profile) {
  Row& row = rows_[rank_class.index()];
  row.profile = &profile;
  row.awaits_profile = false;
  std::vector<Unbooked>& unbooked = unbooked_[rank_class.index()];
  for (const Unbooked& time : unbooked) {
    profile.book(time.from - row.profile_begin, time.to - row.profile_begin, time.mask, time_in_.others(rank_class));
  }
  unbooked.clear();
}

void ActivityLedger::put_off(ClassId rank_class, const Unbooked& time) {
  if (time.from == time.to) return;
  std::vector<Unbooked>& unbooked = unbooked_[rank_class.index()];
  if (!unbooked.empty() && unbooked.back().mask == time.mask) {
    unbooked.back().to = time.to;
  } else {
    unbooked.push_back(time);
  }
}

void ActivityLedger::end_profile(ClassId rank_class, TimePoint now) {
  close(rank_class, now);
  rows_[rank_class.index()].profile = nullptr;
}

void ActivityLedger::restart(ClassId rank_class, TimePoint now) {
  time_in_.clear(rank_class);
  rows_[rank_class.index()].since = now;
}

std::uint64_t ActivityLedger::digest(ClassId rank_class) const {
  const Row& row = rows_[rank_class.index()];
  std::uint64_t hash = row.mask;
  for (const std::uint16_t in_flight : row.in_flight) hash = mix(hash, in_flight);
  // From the beginning of a profile, whose moment counts elsewhere, to the last change.
  for (const Unbooked& time : unbooked_[rank_class.index()]) {
    if (time.to == row.since && time.mask == row.mask) continue;
    hash = mix(mix(hash, time.mask), static_cast<std::uint64_t>((time.to - time.from).count()));
  }
  return hash;
}

void ActivityLedger::book(ClassId rank_class, TimePoint now) {
  Row& row = rows_[rank_class.index()];
  if (row.awaits_profile) {
    put_off(rank_class, {.from = row.since, .to = now, .mask = row.mask});
  } else if (row.profile != nullptr) {
    row.profile->book(row.since - row.profile_begin, now - row.profile_begin, row.mask, time_in_.others(rank_class));
  } else {
    time_in_.add(rank_class, row.mask, now - row.since);
  }
  row.since = now;
}

}  // namespace ringwright
