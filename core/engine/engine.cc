#include "core/engine/engine.h"

#include "core/base/check.h"
#include "core/base/random.h"

namespace ringwright {

EventId Engine::at(TimePoint when, Action action) {
  CHECK(when >= now_, "an event cannot be scheduled in the past");
  return queue_.push(when, action);
}

void Engine::at_end_of_instant(Action action) { end_of_instant_.push_back(action); }

bool Engine::end_instant() {
  if (end_of_instant_.empty()) return false;
  ending_.swap(end_of_instant_);
  for (const Action& action : ending_) {
    ++events_this_instant_;
    action();
  }
  ending_.clear();
  return true;
}

void Engine::run_next() {
  const EventQueue::Event event = queue_.pop();
  if (event.order == 0) return;  // cancelled
  if (event.when != now_) events_this_instant_ = 0;
  now_ = event.when;
  ++events_run_;
  ++events_this_instant_;
  fingerprint_ = splitmix64(fingerprint_ ^ static_cast<std::uint64_t>(event.when.since_start().count())) ^ event.order;
  event.action();
}

RunEnd Engine::run(RunLimits limits) {
  const std::uint64_t last_event =
      limits.max_events > UINT64_MAX - events_run_ ? UINT64_MAX : events_run_ + limits.max_events;
  while (true) {
    const bool instant_goes_on = !queue_.empty() && queue_.earliest() == now_;
    if (!instant_goes_on && end_instant()) {
      if (events_this_instant_ > limits.max_events_per_instant) return RunEnd::kLivelock;
      continue;
    }
    if (queue_.empty() || (stopping_ && !instant_goes_on)) {
      stopping_ = false;
      return RunEnd::kIdle;
    }
    if (is_beyond_clock(queue_.earliest()) && !queue_.is_earliest_cancelled()) return RunEnd::kClockRanOut;
    if (events_run_ >= last_event) return RunEnd::kTooManyEvents;
    run_next();
    if (events_this_instant_ > limits.max_events_per_instant) return RunEnd::kLivelock;
  }
}

}  // namespace ringwright
