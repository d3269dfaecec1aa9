// Events of the host's threads are nested: which one encloses a moment.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

namespace ringwright::traces {

// By thread, then by start, those that last longer first.
template <typename Event>
void sort_nested(std::vector<Event>& events) {
  std::ranges::stable_sort(events, {}, [](const Event& e) { return std::tuple(e.thread, e.start_ns, -e.end_ns); });
}

// The innermost of sorted events on a thread at a time, which is the last that began before and has not ended; null:
// none.
template <typename Event>
const Event* innermost_event(const std::vector<Event>& events, std::int64_t thread, std::int64_t at_ns) {
  auto after = std::ranges::upper_bound(events, std::tuple(thread, at_ns), {},
                                        [](const Event& e) { return std::tuple(e.thread, e.start_ns); });
  constexpr int kMostSteps = 10'000;  // over siblings that have ended
  for (int step = 0; step < kMostSteps && after != events.begin(); ++step) {
    --after;
    if (after->thread != thread) return nullptr;
    if (after->end_ns >= at_ns) return &*after;
  }
  return nullptr;
}

}  // namespace ringwright::traces
