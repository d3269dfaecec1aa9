// The library's main interface: a scenario in, a report out.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "configs/scenario/scenario.h"
#include "configs/simulation/critical_path.h"
#include "configs/simulation/overhead_store.h"
#include "configs/simulation/simulation.h"
#include "configs/simulation/step_plan.h"
#include "core/report/report.h"
#include "core/run/step/executor.h"
#include "traces/timeline/timeline.h"

namespace ringwright::configs {

// What chosen ranks did, task by task. Nothing is left out of the run then, and steps that repeat are simulated.
struct TimelineRequest {
  std::optional<std::string> ranks;  // "0,8-15"; not given: those of one replica
  std::optional<std::string> steps;  // "0,2-3"; not given: all
  traces::TimelineForm form = traces::TimelineForm::kPerfetto;
  // Of the ranks that are not named: a whole replica, or one rank of each role (a pipeline stage).
  enum class Choice : std::uint8_t { kReplica, kRoles } choice = Choice::kReplica;
  bool links = false;  // also the use of the links over the last of the steps; the run is simulated once more for that
};

struct SimulateOptions {
  RunObserver* observer = nullptr;
  bool verify_fairness = false;  // check the certificate of every solve with an independent full solve
  network_models::FastForward fast_forward = network_models::FastForward::kOn;
  const ComputeModel* compute = nullptr;      // instead of the job's
  KnownOverheads* overheads = nullptr;        // of this machine, shared with other steps on it; null: its own
  OverheadStore* store = nullptr;             // where its own are retained; null: nowhere
  const TimelineRequest* timeline = nullptr;  // null: none
  PathWish critical_path = PathWish::kNone;   // not of several jobs
  std::vector<StepWindow> windows = {};       // of several jobs: as in ExecutorOptions
  std::uint64_t nearly_equal_after = NearlyEqualCycles{}.after_events;
  Checkpointing checkpointing = Checkpointing::kAsGiven;
  RunFigures figures = RunFigures::kAll;       // of play_plan
  std::optional<Duration> with_exchange = {};  // of workers that train on their own: the step in which they meet
};

// A finished simulation, without a report of it.
struct PlayedPlan {
  RunResult run;
  std::uint64_t events = 0;
  std::vector<NetworkModel::Counter> counters;
};
[[nodiscard]] PlayedPlan play_plan(const Scenario& scenario, const Simulation& simulation,
                                   const SimulateOptions& options = {});

struct Outcome {
  RunOutcome end = RunOutcome::kFinished;
  std::optional<Report> report;              // when it finished
  std::optional<traces::Timeline> timeline;  // the same, where one was asked for
  StallReport stall;                         // when it stalled
  Diagnostics late;                          // when it ends after the end of the clock: the key that causes it
};

[[nodiscard]] Outcome simulate(const Scenario& scenario, const Simulation& simulation,
                               const SimulateOptions& options = {});

// From the scenario alone: cycles of its pipeline are left out where the run proves that they repeat, and counted in
// all results. A scenario with a checkpoint is simulated with and without it, and the report is about the step with it.
// Where workers meet every few steps, the report is about a step without, whose time has the mean share of one with.
// Mistakes when its choices are incompatible.
[[nodiscard]] Result<Outcome> simulate(const Scenario& scenario, FoldMode fold, const SimulateOptions& options = {});

// The variants of the scenario's training step that are tried in order, until one ends other than with
// RunOutcome::kUnproven; the last one leaves nothing out.
[[nodiscard]] std::vector<workload::Passes> passes_to_try(const Scenario& scenario,
                                                          Checkpointing checkpointing = Checkpointing::kAsGiven);

}  // namespace ringwright::configs
