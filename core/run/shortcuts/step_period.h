// Detects that a run repeats itself from one training step to the next, so that the steps in between need not be
// simulated: they add what one period adds.
//
// It checks the end of each step of class 0. When all state that decides the future (the position of every class, what
// is running and for how long, what is in flight) is the same as one step before, the future is the same too, shifted
// in time. All steps but one more are then left out; the last one is always simulated, because nothing follows it.
// Exact: times are whole picoseconds, and equal states are equal bit by bit.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/ports/network_model.h"
#include "core/record/run_record.h"
#include "core/run/contention/contended_compute.h"

namespace ringwright {

// The totals of a run at one moment.
struct StepSnapshot {
  int iteration = 0;         // that class 0 has just ended
  TimePoint at;
  std::uint64_t digest = 0;  // of all state that decides the future, relative to `iteration` and `at`
  std::vector<ActivityTimes> time_in;  // as in RunRecord
  std::vector<std::vector<Bytes>> sent;
  std::uint64_t messages = 0;
  std::vector<CallTime> calls;
  std::vector<LinkUsage> usage;
  ContendedCompute::Losses losses;  // empty: kernels and communication do not slow each other
};

class StepPeriod {
 public:
  // How many iterations may be left out, given how many there are; 0 when nothing repeats (yet). Do not call again once
  // it has returned more.
  [[nodiscard]] int observe(StepSnapshot snapshot, int iterations);
  // The begin and the end of the period that is left out; only where there is one.
  [[nodiscard]] const StepSnapshot& begin() const { return *before_; }
  [[nodiscard]] const StepSnapshot& end() const { return *now_; }

  // Adds what the left-out iterations would have added to a record whose last iteration is the last one simulated.
  void extend(RunRecord& record, std::vector<LinkUsage>& usage) const;

 private:
  std::optional<StepSnapshot> before_;
  std::optional<StepSnapshot> now_;
  int skipped_ = 0;
};

}  // namespace ringwright
