// Simulates a task graph: streams, dependencies, iterations; returns the record, or who waits for whom.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "core/engine/engine.h"
#include "core/plan/rank_classes.h"
#include "core/plan/step_costs.h"
#include "core/plan/task_graph.h"
#include "core/ports/call_overhead.h"
#include "core/ports/collective_algorithm.h"
#include "core/ports/collective_time.h"
#include "core/ports/communication_footprint.h"
#include "core/ports/compute_model.h"
#include "core/ports/network_model.h"
#include "core/record/run_record.h"
#include "core/run/kernels/chunk_player.h"
#include "core/run/shortcuts/rehearsed_calls.h"
#include "core/run/step/job_steps.h"
#include "core/run/step/stall_report.h"

namespace ringwright {

class LoneCalls;

// Notified periodically of a run's progress; has no influence on it.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  // `done` in [0, 1]: tasks finished of all tasks. False: stop the run.
  virtual bool on_progress(double done, std::uint64_t events) = 0;
};

// How the members of a collective in steps progress: each by itself, as messages arrive; or together, an approximation
// that costs as much as a few messages for a whole call.
enum class MemberProgress { kEach, kTogether };

struct ExecutorInputs {
  Engine& engine;
  const TaskGraph& graph;  // sound (check_task_graph)
  const RankClasses& classes;
  NetworkModel& network;
  const CollectiveChooser& chooser;
  const ComputeModel& compute;
  const CollectiveTime* collective_time = nullptr;  // null: collectives are messages; else formulas
  StepCosts step_costs = {};                        // of collectives simulated in steps
  MemberProgress progress = MemberProgress::kEach;
  // Of collectives simulated in steps, and of messages; null: no cost in addition to their bytes on wires.
  const CallOverhead* call_overhead = nullptr;
  const ChannelInputs* channels = nullptr;          // null: messages go in steps; else as kernels send them
  // Times of those calls alone, on another network; in steps, of calls within hosts; null: none are known.
  LoneCalls* lone = nullptr;
  // What communication occupies of a GPU; null: computing and communication do not slow each other.
  const CommunicationFootprint* footprint = nullptr;
  // Times of collectives of segments alone; null: not known. Only where collectives are messages.
  const RehearsedCalls* rehearsed = nullptr;
};

// What a run is asked for. kTimes: neither the usage of links nor the times of calls.
enum class RunFigures : std::uint8_t { kAll, kTimes };

// Cycles that the graph leaves out may be nearly equal once the run has taken so many events, about a second's, where
// they change the time of the step by at most this share of it. 0: they must be equal.
struct NearlyEqualCycles {
  double tolerance = 0.0;
  std::uint64_t after_events = 1'000'000;
};

struct ExecutorOptions {
  int warmup_iterations = 0;      // not counted in RunRecord::time_in
  std::vector<ClassId> recorded;  // classes whose spans are recorded
  bool record_waits = false;      // RunRecord::waits; not of several jobs
  std::uint64_t max_events_per_instant = 2'000'000'000;
  RunObserver* observer = nullptr;
  // Leave out training steps that repeat the one before exactly. Not for runs whose network changes with time, and
  // without effect where processes share a GPU.
  bool skip_repeated_iterations = false;
  // Independent segments pass as one event. Exact; not where spans or waits are recorded.
  bool pass_segments_at_once = false;
  // The host waits until each receive has ended before it issues what follows, as in frameworks that synchronise after
  // messages of a pipeline. Matters only where issuing takes time.
  bool host_awaits_receives = false;
  RunFigures figures = RunFigures::kAll;
  NearlyEqualCycles nearly_equal = {};
  // A run with calls at once that is void goes on up to so many events, to find what else clashes.
  std::uint64_t most_void_events = std::numeric_limits<std::uint64_t>::max();
  // Of several jobs, by job: the steps that count. Empty: as many as there are iterations, of each job while all run.
  std::vector<StepWindow> windows = {};
};

// kDisturbed: other transfers used links that rehearsed calls were assumed to own; to be simulated without them.
// kStopped: by the observer, or one of several jobs does too many steps while another does few (kMostJobSteps).
// kUnproven: cycles are left out of the graph and the run did not repeat itself from cycle to cycle; to be simulated
// with them.
// kGivenUp: a transfer between hosts stalled for longer than its NICs retry.
// kClockRanOut: it ends beyond the clock's range (kClockEnd); whatever in the record ends in time is correct.
enum class RunOutcome { kFinished, kStalled, kLivelock, kStopped, kDisturbed, kUnproven, kGivenUp, kClockRanOut };

struct RunResult {
  RunOutcome outcome = RunOutcome::kFinished;
  RunRecord record;
  std::vector<LinkUsage> usage;  // of the network model; iterations that were left out included
  std::vector<std::uint64_t> messages;  // by class: transfers that it started, without iterations that were left out
  int skipped_iterations = 0;
  int iterations_in_time = 0;  // that ended before the clock's end; all of them when the run finished
  StallReport stall;  // when stalled, or given up
  std::vector<ClassId> disturbed;  // of kDisturbed, where passes were: the classes that went through them, ascending
  std::uint32_t cycles_taken_in = 0;  // of those that the graph leaves out: simulated, since none had repeated yet
  Duration most_change;  // of the step's time by the others, which are nearly equal; 0: they are equal
};

[[nodiscard]] RunResult execute(const ExecutorInputs& inputs, const ExecutorOptions& options = {});

}  // namespace ringwright
