// The event engine: clock and queue. Order is total: by time, then by order of scheduling.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/units.h"
#include "core/engine/action.h"
#include "core/engine/event_queue.h"

namespace ringwright {

struct RunLimits {
  std::uint64_t max_events = UINT64_MAX;
  std::uint64_t max_events_per_instant = UINT64_MAX;  // more is a livelock
};

// kClockRanOut: all remaining events lie at the end of the clock.
enum class RunEnd { kIdle, kTooManyEvents, kLivelock, kClockRanOut };

class Engine {
 public:
  [[nodiscard]] TimePoint now() const { return now_; }

  // `when` must not lie in the past.
  EventId at(TimePoint when, Action action);
  EventId after(Duration delay, Action action) { return at(now_ + delay, action); }
  // False: it has already run or was cancelled.
  bool cancel(EventId id) { return queue_.cancel(id); }
  // Runs once, when nothing else is left at now(); may schedule further events at now(), after which the instant
  // continues and may end again. For solvers that need all arrivals of an instant before they solve.
  void at_end_of_instant(Action action);

  RunEnd run(RunLimits limits = {});
  // run() returns when the current instant is over, as if nothing were left.
  void stop_after_instant() { stopping_ = true; }

  // Hash of every (time, order) that ran: equal runs have equal fingerprints.
  [[nodiscard]] std::uint64_t fingerprint() const { return fingerprint_; }
  [[nodiscard]] std::uint64_t events_run() const { return events_run_; }

 private:
  bool end_instant();
  void run_next();

  TimePoint now_;
  EventQueue queue_;
  std::vector<Action> end_of_instant_;
  std::vector<Action> ending_;  // scratch of end_instant
  std::uint64_t fingerprint_ = 0;
  std::uint64_t events_run_ = 0;
  std::uint64_t events_this_instant_ = 0;
  bool stopping_ = false;
};

}  // namespace ringwright
