// The work of a rank's GPU in one step of a profiler's trace, and what each piece of it waits for.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/units.h"
#include "traces/kineto/kineto_trace.h"

namespace ringwright::traces {

struct StepItem {
  std::size_t activity = 0;             // into KinetoTrace::activities
  std::optional<std::size_t> call;      // into RankCalls::calls: a collective that is simulated
  Bytes bytes;                          // of the call, as nccl-tests counts
  std::size_t members = 1;              // of the call's group
  std::vector<std::size_t> waits_for;   // earlier items
  Duration host;                        // from the end of these to its start
  Duration end;                         // of its stream so far, from the beginning of the step
  Duration time;                        // by which it makes its stream end later
};

struct StepWork {
  std::vector<StepItem> items;  // by start
  Duration span;
  Duration after_last;             // from the end of the last item to the end of the step
  std::size_t calls = 0;           // collectives that are simulated
  std::size_t recorded_calls = 0;  // other communication kernels
  Duration recorded_time;          // of these
  std::size_t overlapping = 0;     // items that begin before earlier work of their stream has ended
  Duration overlap;                // of these
};

// A collective with a size, which a replay simulates.
[[nodiscard]] bool is_replayed(const RecordedCall& call);

// The last step that all traces mark, by its name; empty where none marks any. Error: no step is in all of them.
[[nodiscard]] Result<std::string> last_common_step(const std::vector<KinetoTrace>& traces);

// Of the step with this name; empty: of the whole trace. Errors: work on several GPUs, no work in the step.
[[nodiscard]] Result<StepWork> work_of_step(const KinetoTrace& trace, const std::string& name);

}  // namespace ringwright::traces
