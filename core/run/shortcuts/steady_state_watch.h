// Detects within a training step that a cycle of all programs' loops repeats the previous one, so that cycles which the
// graph leaves out need not be simulated: they add what one period adds.
//
// It checks each cycle of class 0. Let all state that decides the future (the position of every class in its cycle,
// what is running and until when, what is in flight) be the same as some cycles earlier, with every class the same
// number of cycles further; and let nothing have touched the last cycle in the graph yet. Then the period in between,
// which contained only identical cycles, repeats as long as there are such cycles: a run with more whole periods is
// this one with its later section shifted by that many periods. Exact: times are whole picoseconds, and equal states
// are equal bit by bit.
//
// A step in which flows share links may come ever closer to a period without reaching it. Where the caller allows it,
// a long run also takes for a period what is nearly one. Every class has got equally far, with as many tasks done when
// it began its cycle. Its begin of the cycle, relative to that of class 0, and the length of the period have changed by
// so little since the period before that as much change in every left-out period stays below the tolerated share of
// the step's time. The result is then an approximation: it differs by most_change() at most, if changes do not grow.
//
// Two things need not be equal, but may only grow: how far a host is ahead of its device, and of messages that it
// receives. As long as nothing had to wait for it, nothing will with a host that is further ahead. So such a class must
// not wait for its host from then on until its program ends, where its lead in this run is smaller than in the full
// one.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"
#include "core/run/job/host_clock.h"
#include "core/run/shortcuts/step_period.h"

namespace ringwright {

class SteadyStateWatch {
 public:
  // The position of one class.
  struct Position {
    std::uint32_t cycle = 0;
    // Since the class began the cycle; and how many of its tasks had ended by then beyond those before the cycle.
    Duration since_begin;
    std::uint32_t done_beyond = 0;
    // Time from now until the host begins to issue the cycle; and until it would, had it not waited since the step
    // began, which is how it issues receives.
    Duration host_behind;
    Duration receives_behind;
  };
  struct Moment {
    TimePoint at;
    std::uint64_t digest = 0;   // of all state that decides the future, relative to `at` and the positions
    bool is_long = false;       // the run: nearly equal cycles are left out
    std::vector<Position> places;  // by class
  };
  // `tolerance`: change of a step's time by cycles that are nearly equal, as a share of it.
  SteadyStateWatch(const HostClock& host, std::uint32_t cycles_left_out, double tolerance = 0.0)
      : host_(host),
        left_out_(cycles_left_out),
        tolerance_(tolerance) {}

  [[nodiscard]] bool on() const { return left_out_ > 0; }
  [[nodiscard]] std::uint32_t left_out() const { return left_out_; }
  // So many of them are no longer left out.
  void take_in(std::uint32_t cycles) { left_out_ -= cycles; }
  // Watches a training step of class 0 from now on.
  void begin_step(TimePoint now);
  [[nodiscard]] bool searches() const { return on() && !proofs_.empty() && !proofs_.back().holds; }
  // kBegins: a period may begin now: store the totals of the run. kProved: it has ended, and repeats.
  enum class Verdict { kGoOn, kBegins, kProved };
  [[nodiscard]] Verdict observe(Moment moment);
  // Cycles that no whole period leaves out, once one has repeated: to be taken in.
  [[nodiscard]] std::uint32_t beyond_periods() const { return left_out_ % period_; }
  // How often it is left out.
  [[nodiscard]] std::uint32_t periods() const { return left_out_ / period_; }
  // Of the time of a step by nearly equal cycles; 0: those left out are equal.
  [[nodiscard]] Duration most_change() const { return most_change_; }
  // Whether cycles of that step could be left out, for the class whose program ends now.
  [[nodiscard]] bool held(ClassId c, int iteration) const;

 private:
  static constexpr std::uint32_t kLongest = 32;  // cycles of a period
  // Equal moments, or nearly equal ones, that may bound a period; and how much they differ.
  [[nodiscard]] std::optional<Duration> compare(const Moment& before, const Moment& now) const;
  [[nodiscard]] bool is_small(Duration change, const Moment& before, const Moment& now) const;
  [[nodiscard]] bool host_keeps_up(ClassId c, const Moment& before, const Moment& now, Duration difference) const;
  void prove(const Moment& now, Duration change);
  struct Ahead {
    bool host = false;
    bool receives = false;
  };

  const HostClock& host_;
  std::uint32_t left_out_;
  double tolerance_;
  TimePoint step_began_;
  Duration most_change_;
  std::vector<Moment> seen_;  // of the last cycles
  std::optional<Moment> begin_;
  std::uint32_t period_ = 1;
  Duration period_time_;  // of the one before begin_
  struct Proof {
    bool holds = false;
    TimePoint since;
    std::vector<Ahead> ahead;  // by class: whether its host gets further ahead from cycle to cycle
  };
  std::vector<Proof> proofs_;  // by iteration
};

// What left-out cycles add to a run.
class LeftOutCycles {
 public:
  LeftOutCycles(std::size_t classes, std::size_t dimensions);
  void add(const StepSnapshot& begin, const StepSnapshot& end, std::uint32_t times);
  // Discards how the class spent its time (warm-up).
  void restart(ClassId c);
  [[nodiscard]] Duration time() const { return time_; }
  void extend(StepSnapshot& snapshot) const;
  void extend(RunRecord& record, std::vector<LinkUsage>& usage) const;

 private:
  void add_calls(const std::vector<CallTime>& before, const std::vector<CallTime>& after, std::uint32_t times);
  void extend(std::vector<ActivityTimes>& time_in, std::vector<std::vector<Bytes>>& sent,
              std::vector<LinkUsage>& usage) const;

  Duration time_;
  std::vector<ActivityTimes> time_in_;
  std::vector<std::vector<Bytes>> sent_;
  std::uint64_t messages_ = 0;
  std::vector<CallTime> calls_;
  std::vector<LinkUsage> usage_;
};

}  // namespace ringwright
