// How each class of ranks spends its time: the ledger behind the time breakdown.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/check.h"
#include "core/base/ids.h"
#include "core/base/inline_vector.h"
#include "core/base/units.h"
#include "core/record/run_record.h"
#include "core/run/job/activity_profile.h"
#include "core/run/job/mixture_times.h"

namespace ringwright {

// Notified when data of a dimension start or stop moving to or from a class.
class MovementWatcher {
 public:
  virtual ~MovementWatcher() = default;
  virtual void on_movement(ClassId rank_class, DimensionId dimension, int in_flight) = 0;
};

class ActivityLedger {
 public:
  ActivityLedger(std::size_t classes, std::size_t dimensions);
  // Null: no watcher.
  void watch_with(MovementWatcher* watcher) { watcher_ = watcher; }

  // Activities of one kind may overlap; the kind counts as active while at least one is in flight.
  void begin_compute(ClassId rank_class, TimePoint now) { begin(rank_class, 0, now); }
  void end_compute(ClassId rank_class, TimePoint now) { end(rank_class, 0, now); }
  void begin_communication(ClassId rank_class, DimensionId dimension, TimePoint now) {
    begin(rank_class, 1 + dimension.index(), now);
  }
  void end_communication(ClassId rank_class, DimensionId dimension, TimePoint now) {
    end(rank_class, 1 + dimension.index(), now);
  }

  // Until it is ended, the activities of the profile run from now on, in addition to those begun and ended otherwise.
  // One at a time in a class; it must outlive its end.
  void begin_profile(ClassId rank_class, const ActivityProfile& profile, TimePoint now);
  // The same for activities that begin now but are known later: until then nothing is booked.
  void await_profile(ClassId rank_class, TimePoint now);
  void provide_profile(ClassId rank_class, const ActivityProfile& profile);
  void end_profile(ClassId rank_class, TimePoint now);

  // Discards what the class did so far (warm-up).
  void restart(ClassId rank_class, TimePoint now);
  // Books the time up to now, for the end of the class's last iteration.
  void close(ClassId rank_class, TimePoint now) { switch_bits(rank_class, 0, 0, now); }

  // A hash of the class's activities outside its profile: now, and as long as time is not booked.
  [[nodiscard]] std::uint64_t digest(ClassId rank_class) const;
  // By class; as of the last change or close().
  [[nodiscard]] const std::vector<ActivityTimes>& time_in() { return time_in_.all(); }
  [[nodiscard]] const ActivityTimes& time_in(ClassId rank_class) { return time_in_.of(rank_class); }
  [[nodiscard]] std::vector<ActivityTimes> take() { return time_in_.take(); }

 private:
  // `bit` is a bit of the activity mask.
  void begin(ClassId rank_class, std::size_t bit, TimePoint now) {
    const bool first = rows_[rank_class.index()].in_flight[bit]++ == 0;
    if (first) switch_bits(rank_class, ActivityMask{1} << bit, 0, now);
    if (watcher_ != nullptr) tell(rank_class, bit);
  }
  void end(ClassId rank_class, std::size_t bit, TimePoint now) {
    std::uint16_t& in_flight = rows_[rank_class.index()].in_flight[bit];
    CHECK(in_flight > 0, "an activity ends that did not begin");
    if (--in_flight == 0) switch_bits(rank_class, 0, ActivityMask{1} << bit, now);
    if (watcher_ != nullptr) tell(rank_class, bit);
  }
  void tell(ClassId rank_class, std::size_t bit) const;
  // At one moment several change, one after another: no time is booked in between.
  void switch_bits(ClassId rank_class, ActivityMask on, ActivityMask off, TimePoint now) {
    Row& row = rows_[rank_class.index()];
    if (now != row.since) book(rank_class, now);
    row.mask = (row.mask | on) & ~off;
  }
  void book(ClassId rank_class, TimePoint now);

  // Time that is not booked yet, with the activities outside the profile.
  struct Unbooked {
    TimePoint from;
    TimePoint to;
    ActivityMask mask = 0;
  };
  // What every change reads, in one line of the cache.
  struct alignas(64) Row {
    ActivityMask mask = 0;
    TimePoint since;                           // time up to which it is booked
    const ActivityProfile* profile = nullptr;  // null: none, or not known yet
    TimePoint profile_begin;
    bool awaits_profile = false;
    InlineVector<std::uint16_t, 8> in_flight;  // by bit
  };
  void put_off(ClassId rank_class, const Unbooked& time);

  std::vector<Row> rows_;                         // by class
  std::vector<std::vector<Unbooked>> unbooked_;  // by class
  MixtureTimes time_in_;
  MovementWatcher* watcher_ = nullptr;
};

}  // namespace ringwright
