// The event engine: clock and queue. Order is total: by time, then by order of scheduling.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "core/base/units.h"

namespace ringwright {

// A small callable: captures references and ids, owns nothing, never allocates.
class Action {
 public:
  static constexpr std::size_t kCapacity = 32;

  Action() = default;
  template <class Callable>
    requires(std::is_trivially_copyable_v<Callable> && sizeof(Callable) <= kCapacity &&
             !std::is_same_v<Callable, Action>)
  Action(Callable callable)  // NOLINT: implicit so that a lambda can be passed as it is
      : call_([](const void* storage) {
          Callable copy = *static_cast<const Callable*>(storage);
          copy();
        }) {
    std::memcpy(storage_.data(), &callable, sizeof(Callable));
  }

  void operator()() const { call_(storage_.data()); }

 private:
  alignas(std::max_align_t) std::array<std::byte, kCapacity> storage_{};
  void (*call_)(const void*) = nullptr;
};

struct EventId {
  std::uint32_t slot = 0;
  std::uint64_t order = 0;
};

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
  bool cancel(EventId id);
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
  struct Entry {
    TimePoint when;
    std::uint64_t order;
    std::uint32_t slot;
  };
  struct Later {
    bool operator()(const Entry& a, const Entry& b) const {
      return a.when != b.when ? a.when > b.when : a.order > b.order;
    }
  };
  struct Slot {
    Action action;
    std::uint64_t order = 0;  // 0: free
  };

  bool end_instant();
  void run_next();

  TimePoint now_;
  std::uint64_t next_order_ = 1;
  std::vector<Entry> heap_;  // a heap of keys; the callables are in slots
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_slots_;
  std::vector<Action> end_of_instant_;
  std::vector<Action> ending_;  // scratch of end_instant
  std::uint64_t fingerprint_ = 0;
  std::uint64_t events_run_ = 0;
  std::uint64_t events_this_instant_ = 0;
  bool stopping_ = false;
};

}  // namespace ringwright
