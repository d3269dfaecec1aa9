#include "core/run/step/step_player.h"

#include <algorithm>
#include <utility>

#include "core/run/collectives/background_traffic.h"

namespace ringwright {
namespace {

constexpr std::uint64_t kEventsPerLook = 500'000;  // between two checks of the observer
constexpr std::uint64_t kFewEvents = 1'000;        // of which a check costs nothing

}  // namespace

StepPlayer::StepPlayer(const ExecutorInputs& inputs, const ExecutorOptions& options)
    : inputs_(inputs),
      options_(options),
      run_(inputs, options, *this, *this),
      progress_(inputs.classes.count(), inputs.graph.iterations),
      repeats_(run_, progress_, inputs_, options_),
      spans_(inputs.classes.count(), options.recorded),
      waits_(options.record_waits && inputs.graph.jobs.empty()
                 ? std::make_unique<WaitRecorder>(run_.communication.job())
                 : nullptr),
      jobs_({.graph = inputs.graph,
             .classes = inputs.classes,
             .warmup = options.warmup_iterations,
             .windows = options.windows}) {
  for (std::size_t c = 0; c < run_.streams.classes(); ++c) {
    progress_.expect_tasks(run_.streams.program_of(ClassId(c)).tasks.size());
  }
}

// Of several jobs, each when it starts.
void StepPlayer::begin_all() {
  for (std::size_t c = 0; c < run_.streams.classes(); ++c) {
    const ClassId rank_class(c);
    if (!jobs_.on()) {
      begin_iteration(rank_class);
    } else if (!jobs_.is_idle(rank_class)) {
      const Duration start = inputs_.graph.jobs[run_.streams.program_of(rank_class).job].start;
      run_.engine.after(start, [this, rank_class] {
        ended_.settle_after([this, rank_class] { begin_iteration(rank_class); },
                            [this](const EndedTasks::Ended& ended) { settle(ended); });
      });
    }
  }
}

void StepPlayer::begin_iteration(ClassId c) {
  if (jobs_.on() && jobs_.begin(c)) forget_warmup(c);
  run_.host.begin(c, run_.engine.now());
  run_.streams.begin_iteration(c);
  repeats_.begin_iteration(c);
  const std::size_t tasks = run_.streams.program_of(c).tasks.size();
  spans_.begin_iteration(c, tasks);
  if (waits_ != nullptr) waits_->begin_iteration(c, tasks);
  if (tasks == 0) return end_iteration(c);
  run_.streams.for_each_first(c, [this, c](std::uint32_t task) { try_start(c, task, kNoTask); });
}

void StepPlayer::begin_taken(ClassId c, std::uint32_t task, std::uint32_t after) {
  if (waits_ != nullptr) waits_->release(c, task, after);
  if (run_.streams.task(c, task).stream == kComputeStream) repeats_.note_task(c, task);
  const TimePoint now = run_.engine.now();
  const Duration pause = run_.host.take_pause(c, task, now);
  if (pause <= Duration(0)) return start(c, task);
  if (waits_ != nullptr) {
    waits_->note_host(c, after);
    waits_->await_host(c, task);
  }
  run_.streams.of(c).delay(task, now + pause);
  run_.engine.after(pause, [this, c, task] {
    run_.streams.of(c).begun(task);
    start(c, task);
  });
}

// A task that the host has not issued yet begins when it is issued; of computing, all but the last kernel may be
// running by then, so that a work ends no earlier than it is issued.
void StepPlayer::start(ClassId c, std::uint32_t task) {
  const TaskKind kind = run_.streams.task(c, task).kind;
  if (kind == TaskKind::kSegment) return start_segment(c, task);
  if (awaited_by_kernels(c, task)) return begin_task(c, task);
  Duration late = run_.host.counts() ? run_.host.issued(c, task) - run_.engine.now() : Duration();
  if (kind == TaskKind::kCompute) late -= compute_time(c, task);
  if (late <= Duration(0)) return begin_task(c, task);
  // No event for each of the hundreds of receives that begin with a step and take nothing until their message arrives.
  const bool recorded = spans_.records(c) || waits_ != nullptr;
  if (kind == TaskKind::kReceive && !run_.contention && !recorded) return start_communication(c, task, late);
  start_late(c, task, late);
}

// What its sender stores into this rank's memory, kernels wait for, and the host issues those.
bool StepPlayer::awaited_by_kernels(ClassId c, std::uint32_t task) const {
  const Task& entry = run_.streams.task(c, task);
  return entry.kind == TaskKind::kReceive && inputs_.graph.messages[entry.detail].moved_by == MovedBy::kSender;
}

void StepPlayer::start_late(ClassId c, std::uint32_t task, Duration late) {
  const TimePoint now = run_.engine.now();
  if (waits_ != nullptr) waits_->await_host(c, task);
  run_.host.note_late(c, now);
  run_.streams.of(c).delay(task, now + late);
  run_.engine.after(late, [this, c, task] {
    run_.streams.of(c).begun(task);
    begin_task(c, task);
  });
}

void StepPlayer::begin_task(ClassId c, std::uint32_t task) {
  const TimePoint now = run_.engine.now();
  const Task& entry = run_.streams.task(c, task);
  spans_.begin(c, task, now);
  if (waits_ != nullptr) {
    waits_->begin(c, task, now);
    if (entry.kind == TaskKind::kCollective) {
      waits_->join(c, task, {.dimension = entry.dimension, .number = run_.communication.number_of(c, task)});
    }
  }
  entry.kind == TaskKind::kCompute ? start_compute(c, task) : start_communication(c, task);
}

void StepPlayer::note_end_of_call(ClassId c, std::uint32_t task) {
  const Task& entry = run_.streams.task(c, task);
  if (entry.kind != TaskKind::kCollective) return;
  waits_->leave(c, task, {.dimension = entry.dimension, .number = run_.communication.number_of(c, task)});
}

Duration StepPlayer::compute_time(ClassId c, std::uint32_t task) const {
  const Duration time = run_.plan.work_duration[run_.streams.task(c, task).detail];
  const auto& slowdown = inputs_.graph.compute_slowdown;
  return slowdown.empty() ? time : scale(time, slowdown[inputs_.classes.representative[c.index()].index()]);
}

void StepPlayer::start_communication(ClassId c, std::uint32_t task, Duration late) {
  if (!run_.communication.start(c, task, late)) return;
  if (late <= Duration(0)) return on_communication_ended(c, task);
  on_late_receive(c, task, run_.engine.now() + late);
  run_.engine.after(late, [this, c, task] { on_communication_ended(c, task); });
}

// It ends when it is issued.
void StepPlayer::on_late_receive(ClassId rank_class, std::uint32_t task, TimePoint issued) {
  run_.host.note_late_receive(rank_class, run_.engine.now());
  Progress& progress = run_.streams.of(rank_class);
  progress.delay(task, issued);
  progress.touched(task);
}

// On no stream it is not the GPU that works: the host of a recorded step, or a delay.
void StepPlayer::start_compute(ClassId c, std::uint32_t task) {
  const Duration time = compute_time(c, task);
  const TimePoint now = run_.engine.now();
  const bool on_gpu = run_.streams.task(c, task).stream != kNoStream;
  if (on_gpu) run_.ledger.begin_compute(c, now);
  run_.streams.of(c).computing.push_back({.task = task, .at = now + time});
  if (run_.contention && on_gpu) {
    const std::uint32_t work = run_.streams.task(c, task).detail;
    return run_.contention->compute().compute(c, {.task = task, .work = work, .alone = time});
  }
  run_.engine.after(time, [this, c, task] { on_computed(c, task); });
}

void StepPlayer::on_computed(ClassId c, std::uint32_t task) {
  run_.streams.of(c).computed(task);
  if (run_.streams.task(c, task).stream != kNoStream) run_.ledger.end_compute(c, run_.engine.now());
  end_task(c, task);
}

void StepPlayer::start_segment(ClassId c, std::uint32_t task) {
  const TimePoint now = run_.engine.now();
  const auto known = run_.segments->begin({.rank_class = c,
                                           .task = task,
                                           .segment = run_.streams.task(c, task).detail,
                                           .host_behind = run_.host.issuing(c, task) - now});
  // With calls at once the run goes on, to find all that clash.
  if (run_.segments->is_disturbed() && inputs_.lone == nullptr) run_.engine.stop_after_instant();
  for (const SegmentPlayer::Ending& ending : known) expect_end(ending);
}

void StepPlayer::expect_end(const SegmentPlayer::Ending& ending) {
  const ClassId c = ending.rank_class;
  const std::uint32_t task = ending.task;
  if (ending.late) run_.host.note_late(c, run_.engine.now());
  run_.streams.of(c).computing.push_back({.task = task, .at = ending.at});
  run_.engine.at(ending.at, [this, c, task] {
    run_.streams.of(c).computed(task);
    run_.segments->end(c);
    end_task(c, task);
  });
}

void StepPlayer::settle(const EndedTasks::Ended& ended) {
  const ClassId c = ended.rank_class;
  const TimePoint now = run_.engine.now();
  progress_.end_task();
  spans_.end(c, {.task = ended.task, .iteration = run_.streams.of(c).iteration, .at = now});
  if (waits_ != nullptr) waits_->end(c, ended.task, now);
  const bool received = run_.streams.task(c, ended.task).kind == TaskKind::kReceive;
  if (received && run_.host.ended(c, ended.task, now) && waits_ != nullptr) waits_->note_host(c, ended.task);
  if (run_.streams.end(c, ended.task)) return end_iteration(c);
  run_.streams.for_each_next(c, ended.task,
                             [this, c, ended](std::uint32_t task) { try_start(c, task, ended.task); });
}

void StepPlayer::forget_warmup(ClassId c) {
  const TimePoint now = run_.engine.now();
  run_.ledger.restart(c, now);
  repeats_.restart(c);
  if (run_.contention) run_.contention->compute().restart(c);
}

void StepPlayer::end_step_of_job(ClassId c) {
  const TimePoint now = run_.engine.now();
  ++run_.streams.of(c).iteration;
  run_.ledger.close(c, now);
  switch (jobs_.end(c, now, run_.ledger.time_in(c))) {
    case JobSteps::Verdict::kGoOn: break;
    case JobSteps::Verdict::kWarm: run_.engine.at_end_of_instant([this] { jobs_.begin_counting(); }); break;
    case JobSteps::Verdict::kEnough:
      progress_.end_iteration(progress_.iterations() - 1, now);
      run_.engine.stop_after_instant();
      break;
    case JobSteps::Verdict::kTooMany:
      too_many_steps_ = true;
      run_.engine.stop_after_instant();
      return;
  }
  begin_iteration(c);
}

void StepPlayer::end_iteration(ClassId c) {
  if (jobs_.on()) return end_step_of_job(c);
  Progress& progress = run_.streams.of(c);
  const TimePoint now = run_.engine.now();
  repeats_.end_iteration(c, progress.iteration);
  progress_.end_iteration(progress.iteration, now + repeats_.left_out_time());
  ++progress.iteration;
  if (progress.iteration == options_.warmup_iterations) forget_warmup(c);
  if (progress.iteration < progress_.iterations()) {
    const bool repeats = options_.skip_repeated_iterations && inputs_.graph.background.empty() && run_.is_comparable();
    const bool look = c.index() == 0 && repeats && progress_.skipped() == 0;
    if (look && progress.iteration > options_.warmup_iterations) {
      run_.engine.at_end_of_instant([this] { progress_.skip(repeats_.skip_steps(progress_.iterations())); });
    }
    begin_iteration(c);
    return;
  }
  run_.ledger.close(c, now);
  progress_.end_class(c, now + repeats_.left_out_time());
  // Only background traffic can still be in flight then.
  if (progress_.all_ended()) run_.engine.stop_after_instant();
}

RunEnd StepPlayer::run_engine() {
  const RunLimits limits{.max_events = std::clamp(options_.most_void_events / 8, kFewEvents, kEventsPerLook),
                         .max_events_per_instant = options_.max_events_per_instant};
  RunEnd end = run_.engine.run(limits);
  while (end == RunEnd::kTooManyEvents) {
    if (run_.engine.events_run() > options_.most_void_events && is_disturbed(end)) break;
    RunObserver* const observer = options_.observer;
    if (observer != nullptr && !observer->on_progress(progress_.done_share(), run_.engine.events_run())) break;
    end = run_.engine.run(limits);
  }
  return end;
}

// Without what was not simulated.
RunRecord StepPlayer::take_record() {
  PlayedJob& job = run_.communication.booked_job();
  RunRecord record;
  record.dimension_count = inputs_.graph.dimensions.size();
  record.time_in = run_.ledger.take();
  if (run_.contention) record.interference = run_.contention->compute().lost();
  progress_.move_into(record);
  record.sent = std::move(job.sent);
  record.spans = spans_.take();
  if (waits_ != nullptr) record.waits = waits_->take();
  record.calls = run_.calls();
  record.messages = job.messages_in_all();
  if (jobs_.on()) {
    record.interference.clear();  // of steps that do not count, too
    jobs_.move_into(record);
  }
  return record;
}

// Calls of known times were not alone on their links, or wait for members: task by task it is known who waits for whom.
bool StepPlayer::is_disturbed(RunEnd end) const {
  const CollectiveRunner& collectives = run_.communication.collectives();
  const bool calls = collectives.is_disturbed();
  const bool passes = run_.segments && run_.segments->is_disturbed();
  const bool await = collectives.awaits_members() || (run_.segments && run_.segments->awaits_members());
  return calls || passes || (end == RunEnd::kIdle && await);
}

RunResult StepPlayer::run() {
  if (repeats_.leaves_out_cycles() && !may_leave_out_cycles()) return {.outcome = RunOutcome::kUnproven};
  BackgroundTraffic background(run_.communication.job());
  background.schedule();
  ended_.settle_after([this] { begin_all(); }, [this](const EndedTasks::Ended& ended) { settle(ended); });

  RunResult result;
  const RunEnd end = run_engine();
  if (end == RunEnd::kLivelock) result.outcome = RunOutcome::kLivelock;
  if (end == RunEnd::kTooManyEvents || too_many_steps_) result.outcome = RunOutcome::kStopped;
  if (end == RunEnd::kClockRanOut) result.outcome = RunOutcome::kClockRanOut;
  if (is_disturbed(end)) {
    result.outcome = RunOutcome::kDisturbed;
    if (run_.segments) result.disturbed = run_.segments->disturbed();
    return result;
  }
  if (repeats_.unproven()) return {.outcome = RunOutcome::kUnproven};
  if (end == RunEnd::kIdle && !all_ended() && !too_many_steps_) {
    result.outcome = run_.network.given_up() ? RunOutcome::kGivenUp : RunOutcome::kStalled;
    result.stall = report_stall({.job = run_.communication.job(),
                                 .programs = run_.plan.programs(),
                                 .progress = run_.streams.all(),
                                 .iterations = progress_.iterations(),
                                 .collectives = run_.communication.collectives(),
                                 .messages = run_.communication.messages()});
  }
  result.record = take_record();
  result.usage = run_.usage();
  result.messages = std::move(run_.communication.job().messages);
  result.skipped_iterations = progress_.skipped();
  result.cycles_taken_in = repeats_.taken_in();
  result.most_change = repeats_.most_change();
  repeats_.extend(result.record, result.usage);
  result.iterations_in_time = static_cast<int>(std::ranges::count_if(
      result.record.iteration_end, [](TimePoint ended) { return ended > TimePoint() && !is_beyond_clock(ended); }));
  // Steps and cycles that were not simulated may also reach it.
  if (is_beyond_clock(result.record.iteration_end.back())) result.outcome = RunOutcome::kClockRanOut;
  return result;
}

}  // namespace ringwright
