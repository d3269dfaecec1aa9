#include "core/run/step/repeats.h"

#include <algorithm>
#include <utility>

namespace ringwright {

Repeats::Repeats(RunState& run, std::uint32_t cycles_left_out, bool may_spare)
    : run_(run),
      cycles_(run.host, cycles_left_out),
      left_out_(run.streams.classes(), run.communication.job().graph.dimensions.size()),
      may_spare_(may_spare) {}

void Repeats::begin_iteration(ClassId c) {
  if (c.index() != 0 || !cycles_.on()) return;
  cycles_.begin_step();
  next_cycle_ = run_.streams.program_of(c).loop.first;
}

void Repeats::end_iteration(ClassId c, int iteration) {
  if (cycles_.on() && !cycles_.held(c, iteration)) give_up();
}

void Repeats::give_up() {
  unproven_ = true;
  run_.engine.stop_after_instant();
}

// It is proved that cycles repeat. A run with fewer of them has the same proof, and takes as long as this one up to
// here and after its last cycle.
void Repeats::spare_cycles(std::uint32_t begun) {
  const std::uint32_t spare = run_.cycles_to_come(cycles_.period());
  if (spare <= 2 * begun) return;
  spare_cycles_ = spare;
  give_up();
}

void Repeats::look_for_cycle_at(std::uint32_t task) {
  const Loop& loop = run_.streams.program_of(ClassId(0)).loop;
  if (task < next_cycle_ || task >= loop.end()) return;
  next_cycle_ = loop.first + ((task - loop.first) / loop.size + 1) * loop.size;
  run_.engine.at_end_of_instant([this] { look_for_cycle(); });
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
  const std::uint32_t begun = std::ranges::max(places, {}, &SteadyStateWatch::Position::cycle).cycle + 1;
  switch (cycles_.observe({.at = run_.engine.now(), .digest = digest, .places = std::move(places)})) {
    case SteadyStateWatch::Verdict::kGoOn: return;
    case SteadyStateWatch::Verdict::kBegins: cycle_begin_ = snapshot(0, digest); return;
    case SteadyStateWatch::Verdict::kProved:
      left_out_.add(*cycle_begin_, snapshot(0, digest), cycles_.periods());
      if (may_spare_) spare_cycles(begun);
      return;
  }
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
  return period_.observe(std::move(come_to), iterations);
}

void Repeats::extend(RunRecord& record, std::vector<LinkUsage>& usage) const {
  left_out_.extend(record, usage);
  period_.extend(record, usage);
}

}  // namespace ringwright
