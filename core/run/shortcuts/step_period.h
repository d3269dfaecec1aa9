// Recognises that a run repeats itself from one training step to the next, so that the steps in between need not be
// played: what they add is what one period adds.
//
// Looked at is the end of each step of class 0. When everything that bears on the future (where every class stands,
// what is running and for how long, what is in flight) is the same as one step before, the future is the same too,
// shifted in time. All steps but one more are then left out; the last one is always played, because nothing follows it.
// Exact: times are whole picoseconds, and equal states are equal bit by bit.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/ports/network_model.h"
#include "core/record/run_record.h"

namespace ringwright {

// What a run has come to at one moment.
struct StepSnapshot {
  int iteration = 0;         // that class 0 has just ended
  TimePoint at;
  std::uint64_t digest = 0;  // of all that bears on the future, relative to `iteration` and `at`
  std::vector<std::vector<Duration>> time_in;  // as in RunRecord
  std::vector<std::vector<Bytes>> sent;
  std::uint64_t messages = 0;
  std::vector<CallTime> calls;
  std::vector<LinkUsage> usage;
};

class StepPeriod {
 public:
  // How many iterations may be left out, given how many there are; 0 when nothing repeats (yet). Not to be asked again
  // once it has given more.
  [[nodiscard]] int observe(StepSnapshot snapshot, int iterations);

  // Adds what the left-out iterations would have added to a record whose last iteration is the last one played.
  void extend(RunRecord& record, std::vector<LinkUsage>& usage) const;

 private:
  std::optional<StepSnapshot> before_;
  std::optional<StepSnapshot> now_;
  int skipped_ = 0;
};

}  // namespace ringwright
