// What repeats in a run and is not simulated again: training steps equal to the one before, and cycles that the graph
// leaves out.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/run/shortcuts/steady_state_watch.h"
#include "core/run/shortcuts/step_period.h"
#include "core/run/step/cycle_begins.h"
#include "core/run/step/further_cycles.h"
#include "core/run/step/run_progress.h"
#include "core/run/step/run_state.h"

namespace ringwright {

class Repeats {
 public:
  // All outlive it; `inputs` and `options` as those of the run.
  Repeats(RunState& run, RunProgress& progress, const ExecutorInputs& inputs, const ExecutorOptions& options);

  // --- cycles ---
  [[nodiscard]] bool leaves_out_cycles() const { return cycles_.on(); }
  void begin_iteration(ClassId c);
  // A class has begun a task of its compute stream.
  void note_task(ClassId c, std::uint32_t task) {
    if (!cycles_.searches()) return;
    if (begins_.note(c, task, run_.engine.now()) && c.index() == 0) {
      run_.engine.at_end_of_instant([this] { look_for_cycle(); });
    }
    if (further_.nears_end(c, task)) take_in_soon();
  }
  // The class ends an iteration: the run stops if no cycles should have been left out of it.
  void end_iteration(ClassId c, int iteration);
  // Whether they were.
  [[nodiscard]] bool unproven() const { return unproven_; }
  // Cycles that the graph leaves out and the run did not.
  [[nodiscard]] std::uint32_t taken_in() const { return further_.inserted(); }
  // By how much the run may differ from one without left-out cycles, where these are nearly equal; 0: they are equal.
  [[nodiscard]] Duration most_change() const { return cycles_.most_change(); }
  // That left-out cycles have taken so far.
  [[nodiscard]] Duration left_out_time() const { return left_out_.time(); }
  // Discards how the class spent its time (warm-up).
  void restart(ClassId c) { left_out_.restart(c); }

  // --- training steps ---
  // At the end of the instant in which class 0 began an iteration, of so many: how many may be left out. Do not call
  // again once there are some.
  [[nodiscard]] int skip_steps(int iterations);

  // Adds to a record all that was not simulated.
  void extend(RunRecord& record, std::vector<LinkUsage>& usage) const;

 private:
  void look_for_cycle();
  void leave_out(const StepSnapshot& end);
  void give_up();
  void take_in_soon();
  [[nodiscard]] bool take_in(std::uint32_t cycles);
  [[nodiscard]] StepSnapshot snapshot(int iteration, std::uint64_t digest);

  RunState& run_;
  RunProgress& progress_;
  StepPeriod period_;
  SteadyStateWatch cycles_;
  CycleBegins begins_;
  std::optional<StepSnapshot> cycle_begin_;
  LeftOutCycles left_out_;
  FurtherCycles further_;
  std::uint64_t nearly_equal_after_;  // events
  bool takes_in_ = false;  // at the end of this instant
  bool unproven_ = false;  // cycles were left out that may not be
};

}  // namespace ringwright
