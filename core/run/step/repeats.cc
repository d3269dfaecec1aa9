#include "core/run/step/repeats.h"

#include <algorithm>
#include <utility>

namespace ringwright {
Repeats::Repeats(RunState& run, RunProgress& progress, const ExecutorInputs& inputs, const ExecutorOptions& options)
    : run_(run),
      progress_(progress),
      cycles_(run.host, inputs.graph.cycles_left_out, options.nearly_equal.tolerance),
      begins_(run.streams),
      left_out_(run.streams.classes(), inputs.graph.dimensions.size()),
      further_(run, inputs, options),
      nearly_equal_after_(options.nearly_equal.after_events) {}

void Repeats::begin_iteration(ClassId c) {
  if (!cycles_.on()) return;
  begins_.begin_iteration(c);
  if (c.index() == 0) cycles_.begin_step(run_.engine.now());
}

void Repeats::end_iteration(ClassId c, int iteration) {
  if (cycles_.on() && !cycles_.held(c, iteration)) give_up();
}

void Repeats::give_up() {
  unproven_ = true;
  run_.engine.stop_after_instant();
}

// A class comes to the end of its loop before cycles have repeated: further ones are simulated.
void Repeats::take_in_soon() {
  if (takes_in_) return;
  takes_in_ = true;
  run_.engine.at_end_of_instant([this] {
    takes_in_ = false;
    // Where that is not possible, the run may still prove a period in the cycles that remain.
    if (cycles_.searches()) (void)take_in(std::min(further_.suggested(), cycles_.left_out()));
  });
}

bool Repeats::take_in(std::uint32_t cycles) {
  if (!further_.insert(cycles)) return false;
  cycles_.take_in(cycles);
  for (std::size_t c = 0; c < run_.streams.classes(); ++c) {
    progress_.expect_tasks(std::size_t{cycles} * run_.streams.program_of(ClassId(c)).loop.size);
  }
  return true;
}

// At the end of the instant in which class 0 began a cycle.
void Repeats::look_for_cycle() {
  run_.communication.job().reference_iteration = run_.streams.all().front().iteration;
  std::vector<SteadyStateWatch::Position> places = run_.find_places();
  if (places.empty()) {
    if (run_.is_past_loops()) give_up();
    return;
  }
  const auto of_network = run_.network.state_digest();
  if (!of_network) return;
  const std::uint64_t digest = run_.cycle_digest(*of_network);
  begins_.complete(places, run_.engine.now());
  switch (cycles_.observe({.at = run_.engine.now(),
                           .digest = digest,
                           .is_long = run_.engine.events_run() >= nearly_equal_after_,
                           .places = std::move(places)})) {
    case SteadyStateWatch::Verdict::kGoOn: return;
    case SteadyStateWatch::Verdict::kBegins: cycle_begin_ = snapshot(0, digest); return;
    case SteadyStateWatch::Verdict::kProved:
      if (cycles_.beyond_periods() > 0 && !take_in(cycles_.beyond_periods())) return give_up();
      leave_out(snapshot(0, digest));
      return;
  }
}

void Repeats::leave_out(const StepSnapshot& end) {
  left_out_.add(*cycle_begin_, end, cycles_.periods());
  if (run_.contention) run_.contention->compute().repeat(cycle_begin_->losses, end.losses, cycles_.periods());
}

StepSnapshot Repeats::snapshot(int iteration, std::uint64_t digest) {
  StepSnapshot snapshot = run_.snapshot(iteration, digest);
  if (cycles_.on()) snapshot.calls = run_.calls();
  return snapshot;
}

int Repeats::skip_steps(int iterations) {
  const int ended = run_.streams.all().front().iteration - 1;
  PlayedJob& job = run_.communication.job();
  job.reference_iteration = ended;
  job.reference_task.clear();
  const auto of_network = run_.network.state_digest();
  // Ranks in lock-step are at most an iteration apart; where they are not, nothing is left out.
  const bool together = std::ranges::all_of(run_.streams.all(), [ended](const Progress& progress) {
    return progress.iteration == ended || progress.iteration == ended + 1;
  });
  if (!of_network || !together) return 0;
  StepSnapshot come_to = snapshot(ended, run_.digest(ended, *of_network));
  left_out_.extend(come_to);
  const int skipped = period_.observe(std::move(come_to), iterations);
  if (skipped > 0 && run_.contention) {
    run_.contention->compute().repeat(period_.begin().losses, period_.end().losses, skipped);
  }
  return skipped;
}

void Repeats::extend(RunRecord& record, std::vector<LinkUsage>& usage) const {
  left_out_.extend(record, usage);
  period_.extend(record, usage);
}

}  // namespace ringwright
