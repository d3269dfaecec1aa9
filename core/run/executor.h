// Plays a task graph: streams, dependencies, iterations; tells what happened, or who waits for whom.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/engine/engine.h"
#include "core/plan/rank_classes.h"
#include "core/plan/task_graph.h"
#include "core/ports/collective_algorithm.h"
#include "core/ports/collective_time.h"
#include "core/ports/compute_model.h"
#include "core/ports/network_model.h"
#include "core/record/run_record.h"
#include "core/run/chunk_player.h"

namespace ringwright {

// Told now and then how far a run is; a pure onlooker.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  // `done` in [0, 1]: tasks finished of all tasks. False: stop the run.
  virtual bool on_progress(double done, std::uint64_t events) = 0;
};

struct ExecutorInputs {
  Engine& engine;
  const TaskGraph& graph;      // sound (check_task_graph)
  const RankClasses& classes;
  NetworkModel& network;
  const CollectiveChooser& chooser;
  const ComputeModel& compute;
  const CollectiveTime* collective_time = nullptr;  // null: collectives are messages; else formulas
  const ChannelInputs* channels = nullptr;          // null: messages go in steps; else as kernels send them
};

struct ExecutorOptions {
  int warmup_iterations = 0;             // not counted in RunRecord::time_in
  std::vector<ClassId> recorded;         // classes whose spans are kept
  std::uint64_t max_events_per_instant = 2'000'000'000;
  RunObserver* observer = nullptr;
  // Leave out training steps that repeat the one before exactly. Not for runs whose network changes with time.
  bool skip_repeated_iterations = false;
  // The host waits until each receive has ended before it issues what follows, as frameworks do that synchronise after
  // messages of a pipeline. Matters only where issuing takes time.
  bool host_awaits_receives = false;
};

// A task that cannot go on, and why.
struct Blocked {
  RankId rank;
  std::string program;
  std::string task;       // its label
  std::string waits_for;  // "rank 7 ...", "its task ..."
};

struct StallReport {
  std::vector<Blocked> blocked;     // at most a few dozen
  std::size_t unfinished_ranks = 0;
  TimePoint at;
  std::vector<std::string> notes;  // what whoever assembled the run adds: links that are down
};

enum class RunOutcome { kFinished, kStalled, kLivelock, kStopped };

struct RunResult {
  RunOutcome outcome = RunOutcome::kFinished;
  RunRecord record;
  std::vector<LinkUsage> usage;  // of the network model; iterations that were left out included
  int skipped_iterations = 0;
  StallReport stall;  // when stalled
};

[[nodiscard]] RunResult execute(const ExecutorInputs& inputs, const ExecutorOptions& options = {});

// For people: one line a blocked task.
[[nodiscard]] std::string render(const StallReport& stall);

}  // namespace ringwright
