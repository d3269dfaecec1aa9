// Repeats in a run: training steps equal to the one before, and cycles that the graph leaves out.
#include <algorithm>

#include "core/base/random.h"
#include "core/run/step/step_player.h"

namespace ringwright {

// At the end of the instant in which class 0 began an iteration.
void StepPlayer::look_for_period() {
  const int ended = progress_.front().iteration - 1;
  job_.reference_iteration = ended;
  job_.reference_task.clear();
  const auto of_network = inputs_.network.state_digest();
  // Ranks in lock-step are at most an iteration apart; where they are not, nothing is left out.
  const bool together = std::ranges::all_of(progress_, [ended](const Progress& progress) {
    return progress.iteration == ended || progress.iteration == ended + 1;
  });
  if (!of_network || !together) return;
  StepSnapshot come_to = snapshot(ended, state_digest(ended, *of_network));
  left_out_.extend(come_to);
  skipped_ = period_.observe(std::move(come_to), iterations_);
  tasks_total_ -=
      tasks_total_ / static_cast<std::uint64_t>(inputs_.graph.iterations) * static_cast<std::uint64_t>(skipped_);
  iterations_ -= skipped_;
}

std::uint64_t StepPlayer::state_digest(int iteration, std::uint64_t of_network) {
  std::uint64_t hash = mix(mix(of_network, communication_digest()), host_.digest(inputs_.engine.now()));
  for (const Progress& progress : progress_) hash = mix(hash, digest(progress, inputs_.engine.now(), iteration));
  return hash;
}

StepSnapshot StepPlayer::snapshot(int iteration, std::uint64_t digest) {
  const TimePoint now = inputs_.engine.now();
  for (std::size_t c = 0; c < progress_.size(); ++c) ledger_.close(ClassId(c), now);
  return {.iteration = iteration,
          .at = now,
          .digest = digest,
          .time_in = ledger_.time_in(),
          .sent = job_.sent,
          .messages = job_.messages_in_all(),
          .calls = cycles_.on() ? calls() : std::vector<CallTime>(),
          .usage = usage()};
}

std::vector<CallTime> StepPlayer::calls() const {
  CallTimes all(0);
  all.add(calls_.take());
  if (segments_) segments_->add_calls(all);
  return all.take();
}

// A class has begun a task of the compute stream.
void StepPlayer::note_cycle(ClassId c, std::uint32_t task) {
  const Loop& loop = program_of(c).loop;
  if (c.index() != 0 || !cycles_.searches() || task < next_cycle_ || task >= loop.end()) return;
  next_cycle_ = loop.first + ((task - loop.first) / loop.size + 1) * loop.size;
  inputs_.engine.at_end_of_instant([this] { look_for_cycle(); });
}

std::vector<SteadyStateWatch::Position> StepPlayer::find_places() {
  std::vector<SteadyStateWatch::Position> places;
  for (std::size_t i = 0; i < progress_.size(); ++i) {
    const ClassId c(i);
    const Progress& progress = progress_[i];
    const Loop& loop = program_of(c).loop;
    const std::vector<std::uint32_t>& order = index_of(c).stream_tasks[kComputeStream];
    const std::size_t at = progress.stream_next[kComputeStream];
    if (progress.iteration != progress_.front().iteration || at >= order.size()) return {};
    if (order[at] < loop.first || progress.farthest + loop.size >= loop.end()) return {};
    const std::uint32_t cycle = (order[at] - loop.first) / loop.size;
    const std::uint32_t first = loop.first + cycle * loop.size;
    job_.reference_task[i] = first;
    const TimePoint now = inputs_.engine.now();
    places.push_back({.cycle = cycle,
                      .host_behind = host_.issuing(c, first) - now,
                      .receives_behind = host_.issuing_unhindered(c, first) - now});
  }
  return places;
}

std::uint64_t StepPlayer::cycle_digest(std::uint64_t of_network) {
  const TimePoint now = inputs_.engine.now();
  std::uint64_t hash = mix(of_network, communication_digest());
  for (std::size_t c = 0; c < progress_.size(); ++c) {
    const ClassId rank_class(c);
    hash = mix(hash, digest_cycle(progress_[c], {.now = now, .task = job_.reference_task[c]}));
    hash = mix(mix(hash, segments_ ? segments_->digest(rank_class) : 0), ledger_.digest(rank_class));
  }
  return hash;
}

// At the end of the instant in which class 0 began a cycle.
void StepPlayer::look_for_cycle() {
  job_.reference_iteration = progress_.front().iteration;
  job_.reference_task.resize(progress_.size());
  std::vector<SteadyStateWatch::Position> places = find_places();
  const auto of_network = inputs_.network.state_digest();
  if (places.empty() || !of_network) return;
  const std::uint64_t digest = cycle_digest(*of_network);
  switch (cycles_.observe({.at = inputs_.engine.now(), .digest = digest, .places = std::move(places)})) {
    case SteadyStateWatch::Verdict::kGoOn: return;
    case SteadyStateWatch::Verdict::kBegins: cycle_begin_ = snapshot(0, digest); return;
    case SteadyStateWatch::Verdict::kProved:
      left_out_.add(*cycle_begin_, snapshot(0, digest), cycles_.periods());
      return;
  }
}

void StepPlayer::end_cycles(ClassId c) {
  if (!cycles_.on() || cycles_.held(c, progress_[c.index()].iteration)) return;
  unproven_ = true;
  inputs_.engine.stop_after_instant();
}

}  // namespace ringwright
