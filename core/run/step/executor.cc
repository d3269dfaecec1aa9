#include "core/run/step/step_player.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/run/step/collective_rung.h"

namespace ringwright {
namespace {

constexpr std::uint64_t kEventsPerLook = 500'000;  // between two checks of the observer

}  // namespace

StepPlayer::StepPlayer(const ExecutorInputs& inputs, const ExecutorOptions& options)
    : inputs_(inputs),
      options_(options),
      pacing_(inputs.footprint != nullptr ? std::make_unique<Pacing>(inputs) : nullptr),
      plan_(inputs, options),
      host_({inputs.graph, plan_.programs, inputs.classes, inputs.compute, options.host_awaits_receives}),
      ledger_(inputs.classes.count(), inputs.graph.dimensions.size()),
      job_{.engine = inputs.engine,
           .graph = inputs.graph,
           .classes = inputs.classes,
           .network = inputs.network,
           .driven = pacing_ ? pacing_->network : inputs.network,
           .clocks = pacing_ ? &pacing_->clocks : nullptr,
           .ledger = ledger_,
           .listener = *this,
           .sent = std::vector<std::vector<Bytes>>(inputs.classes.count(),
                                                   std::vector<Bytes>(inputs.graph.dimensions.size())),
           .messages = std::vector<std::uint64_t>(inputs.classes.count())},
      collectives_(make_collective_runner(job_, inputs)),
      messages_(job_, collectives_->carrier(), inputs.call_overhead),
      calls_(inputs.classes.count()),
      background_(job_),
      progress_(inputs.classes.count()),
      cycles_(host_, inputs.graph.cycles_left_out),
      left_out_(inputs.classes.count(), inputs.graph.dimensions.size()),
      recorded_(inputs.classes.count(), false),
      started_at_(inputs.classes.count()) {
  for (const ClassId c : options.recorded) recorded_[c.index()] = true;
  if (inputs.footprint != nullptr) {
    contended_.emplace(ContendedCompute::Inputs{.engine = inputs.engine,
                                                .graph = inputs.graph,
                                                .compute = inputs.compute,
                                                .clocks = pacing_->clocks,
                                                .listener = *this,
                                                .classes = inputs.classes.count()});
    ledger_.watch_with(&*contended_);
  }
  if (plan_.at_once) segments_.emplace(job_, calls_, inputs, plan_);
  iterations_ = inputs.graph.iterations;
  record_.dimension_count = inputs.graph.dimensions.size();
  record_.finished_at.resize(inputs.classes.count());
  record_.iteration_end.resize(static_cast<std::size_t>(inputs.graph.iterations));
}

void StepPlayer::begin_iteration(ClassId c) {
  const Program& program = program_of(c);
  const ProgramIndex& index = index_of(c);
  Progress& progress = progress_[c.index()];
  host_.begin(c, inputs_.engine.now());
  progress.pending = index.dependency_count;
  progress.state.assign(program.tasks.size(), TaskState::kWaiting);
  progress.stream_next.assign(index.stream_tasks.size(), 0);
  progress.stream_busy.assign(index.stream_tasks.size(), false);
  progress.unfinished = program.tasks.size();
  progress.first_open = 0;
  progress.farthest = 0;
  if (c.index() == 0 && cycles_.on()) {
    cycles_.begin_step();
    next_cycle_ = program.loop.first;
  }
  if (recorded_[c.index()]) started_at_[c.index()].resize(program.tasks.size());
  if (program.tasks.empty()) return end_iteration(c);
  for (const auto& tasks : index.stream_tasks) {
    if (!tasks.empty()) try_start(c, tasks.front());
  }
  for (const std::uint32_t task : index.streamless_roots) try_start(c, task);
}

void StepPlayer::try_start(ClassId c, std::uint32_t task) {
  Progress& progress = progress_[c.index()];
  if (progress.pending[task] > 0 || progress.state[task] != TaskState::kWaiting) return;
  const StreamIndex stream = program_of(c).tasks[task].stream;
  if (stream != kNoStream) {
    const auto& order = index_of(c).stream_tasks[stream];
    if (progress.stream_busy[stream] || order[progress.stream_next[stream]] != task) return;
    progress.stream_busy[stream] = true;
    ++progress.stream_next[stream];
  }
  progress.state[task] = TaskState::kRunning;
  if (program_of(c).tasks[task].kind != TaskKind::kReceive) progress.touched(task);
  if (stream == kComputeStream) note_cycle(c, task);
  const TimePoint now = inputs_.engine.now();
  const Duration pause = host_.take_pause(c, task, now);
  if (pause <= Duration(0)) return start(c, task);
  progress.delayed.emplace(task, now + pause);
  inputs_.engine.after(pause, [this, c, task] {
    progress_[c.index()].begun(task);
    start(c, task);
  });
}

// A task that the host has not issued yet begins when it is issued; of computing, all but the last kernel may be
// running by then, so that a work ends no earlier than it is issued.
void StepPlayer::start(ClassId c, std::uint32_t task) {
  const TaskKind kind = program_of(c).tasks[task].kind;
  if (kind == TaskKind::kSegment) return start_segment(c, task);
  Duration late = host_.counts() ? host_.issued(c, task) - inputs_.engine.now() : Duration();
  if (kind == TaskKind::kCompute) late -= compute_time(c, task);
  if (late <= Duration(0)) return begin_task(c, task);
  // No event for each of the hundreds of receives that begin with a step and take nothing until their message arrives.
  if (kind == TaskKind::kReceive && !contended_ && !recorded_[c.index()]) return start_communication(c, task, late);
  start_late(c, task, late);
}

void StepPlayer::start_late(ClassId c, std::uint32_t task, Duration late) {
  const TimePoint now = inputs_.engine.now();
  host_.note_late(c, now);
  progress_[c.index()].delayed.emplace(task, now + late);
  inputs_.engine.after(late, [this, c, task] {
    progress_[c.index()].begun(task);
    begin_task(c, task);
  });
}

void StepPlayer::begin_task(ClassId c, std::uint32_t task) {
  if (recorded_[c.index()]) started_at_[c.index()][task] = inputs_.engine.now();
  program_of(c).tasks[task].kind == TaskKind::kCompute ? start_compute(c, task) : start_communication(c, task);
}

Duration StepPlayer::compute_time(ClassId c, std::uint32_t task) const {
  const Duration time = plan_.work_duration[program_of(c).tasks[task].detail];
  const auto& slowdown = inputs_.graph.compute_slowdown;
  return slowdown.empty() ? time : scale(time, slowdown[job_.rank_of(c).index()]);
}

// From the launch of its kernel on, communication occupies multiprocessors.
void StepPlayer::hold_gpu(ClassId c, std::uint32_t task) {
  const Task& entry = program_of(c).tasks[task];
  const TaskGraph& graph = inputs_.graph;
  if (entry.kind != TaskKind::kCollective) {
    const MessageSpec& message = graph.messages[entry.detail];
    return contended_->hold(c, {.dimension = entry.dimension,
                                .task = task,
                                .takes = inputs_.footprint->of(message, entry.dimension, job_.rank_of(c)),
                                .once_data_move = entry.kind == TaskKind::kReceive});
  }
  const CollectiveSpec& spec = graph.collectives[entry.detail];
  const CollectiveCall call{.kind = spec.kind,
                            .bytes = spec.bytes,
                            .layout = &graph.layouts[job_.layout_of(c, entry.dimension)],
                            .dimension = entry.dimension};
  contended_->hold(c, {.dimension = entry.dimension, .task = task, .takes = inputs_.footprint->of(call)});
}

void StepPlayer::start_communication(ClassId c, std::uint32_t task, Duration late) {
  const Task& entry = program_of(c).tasks[task];
  if (contended_) hold_gpu(c, task);
  const ProgramIndex& index = index_of(c);
  const auto iteration = static_cast<std::uint64_t>(progress_[c.index()].iteration);
  const std::uint64_t sequence = iteration * index.period[task] + index.occurrence[task];
  switch (entry.kind) {
    case TaskKind::kCompute:
    case TaskKind::kSegment: return;
    case TaskKind::kCollective:
      calls_.begin(c, task, {.dimension = entry.dimension, .spec = entry.detail}, inputs_.engine.now());
      collectives_->start({.rank_class = c,
                           .dimension = entry.dimension,
                           .spec = entry.detail,
                           .sequence = sequence,
                           .iteration = progress_[c.index()].iteration,
                           .task = task});
      return;
    case TaskKind::kSend:
      messages_.send({.rank_class = c,
                      .dimension = entry.dimension,
                      .spec = entry.detail,
                      .sequence = sequence,
                      .iteration = progress_[c.index()].iteration,
                      .task = task});
      return;
    case TaskKind::kReceive:
      if (messages_.receive({.rank_class = c,
                             .dimension = entry.dimension,
                             .spec = entry.detail,
                             .sequence = sequence,
                             .iteration = progress_[c.index()].iteration,
                             .task = task,
                             .not_before = inputs_.engine.now() + late})) {
        if (late <= Duration(0)) return on_communication_ended(c, task);
        on_late_receive(c, task, inputs_.engine.now() + late);
        inputs_.engine.after(late, [this, c, task] { on_communication_ended(c, task); });
      }
      return;
  }
}

// It ends when it is issued.
void StepPlayer::on_late_receive(ClassId rank_class, std::uint32_t task, TimePoint issued) {
  host_.note_late_receive(rank_class, inputs_.engine.now());
  Progress& progress = progress_[rank_class.index()];
  progress.delayed.emplace(task, issued);
  progress.touched(task);
}

// On no stream it is not the GPU that works: the host of a recorded step, or a delay.
void StepPlayer::start_compute(ClassId c, std::uint32_t task) {
  const Duration time = compute_time(c, task);
  const bool on_gpu = program_of(c).tasks[task].stream != kNoStream;
  if (on_gpu) ledger_.begin_compute(c, inputs_.engine.now());
  progress_[c.index()].computing.emplace_back(task, inputs_.engine.now() + time);
  if (contended_ && on_gpu)
    return contended_->compute(c, {.task = task, .work = program_of(c).tasks[task].detail, .alone = time});
  inputs_.engine.after(time, [this, c, task] { on_computed(c, task); });
}

void StepPlayer::on_computed(ClassId c, std::uint32_t task) {
  progress_[c.index()].computed(task);
  if (program_of(c).tasks[task].stream != kNoStream) ledger_.end_compute(c, inputs_.engine.now());
  end_task(c, task);
}

void StepPlayer::start_segment(ClassId c, std::uint32_t task) {
  const TimePoint now = inputs_.engine.now();
  const Duration time = segments_->begin(c, program_of(c).tasks[task].detail, host_.issuing(c, task) - now);
  if (segments_->is_disturbed()) inputs_.engine.stop_after_instant();
  if (segments_->is_late(c)) host_.note_late(c, now);
  progress_[c.index()].computing.emplace_back(task, now + time);
  inputs_.engine.after(time, [this, c, task] {
    progress_[c.index()].computed(task);
    segments_->end(c);
    end_task(c, task);
  });
}

// Tasks may end while others are being started; a queue instead of recursion keeps the stack flat.
void StepPlayer::end_task(ClassId c, std::uint32_t task) {
  ended_.push_back({.rank_class = c, .task = task});
  if (settling_) return;
  settling_ = true;
  for (std::size_t i = 0; i < ended_.size(); ++i) settle(Ended(ended_[i]));
  ended_.clear();
  settling_ = false;
}

void StepPlayer::note_span(ClassId c, std::uint32_t task) {
  record_.spans.push_back({.rank_class = c,
                           .task = task,
                           .iteration = static_cast<std::uint32_t>(progress_[c.index()].iteration),
                           .start = started_at_[c.index()][task],
                           .end = inputs_.engine.now()});
}

void StepPlayer::settle(const Ended& ended) {
  const ClassId c = ended.rank_class;
  Progress& progress = progress_[c.index()];
  const ProgramIndex& index = index_of(c);
  const StreamIndex stream = program_of(c).tasks[ended.task].stream;
  progress.done(ended.task);
  ++tasks_done_;
  if (recorded_[c.index()]) note_span(c, ended.task);
  host_.ended(c, ended.task, inputs_.engine.now());
  if (--progress.unfinished == 0) return end_iteration(c);
  if (stream != kNoStream) progress.stream_busy[stream] = false;
  for (const std::uint32_t dependent : index.dependents_of(ended.task)) {
    --progress.pending[dependent];
    progress.touched(dependent);
    try_start(c, dependent);
  }
  if (stream == kNoStream) return;
  const auto& order = index.stream_tasks[stream];
  const std::uint32_t next = progress.stream_next[stream];
  if (next < order.size()) try_start(c, order[next]);
}

void StepPlayer::end_iteration(ClassId c) {
  Progress& progress = progress_[c.index()];
  const TimePoint now = inputs_.engine.now();
  TimePoint& end = record_.iteration_end[static_cast<std::size_t>(progress.iteration)];
  end_cycles(c);
  end = std::max(end, now + left_out_.time());
  ++progress.iteration;
  if (progress.iteration == options_.warmup_iterations) {
    ledger_.restart(c, now);
    left_out_.restart(c);
    if (contended_) contended_->restart(c);
  }
  if (progress.iteration < iterations_) {
    const bool repeats = options_.skip_repeated_iterations && inputs_.graph.background.empty() && !contended_;
    const bool look = c.index() == 0 && repeats && skipped_ == 0;
    if (look && progress.iteration > options_.warmup_iterations) {
      inputs_.engine.at_end_of_instant([this] { look_for_period(); });
    }
    begin_iteration(c);
    return;
  }
  ledger_.close(c, now);
  record_.finished_at[c.index()] = now + left_out_.time();
  // Only background traffic can still be in flight then.
  if (++finished_classes_ == progress_.size()) inputs_.engine.stop_after_instant();
}

RunResult StepPlayer::run() {
  if (cycles_.on() && !may_leave_out_cycles()) return {.outcome = RunOutcome::kUnproven};
  for (std::size_t c = 0; c < progress_.size(); ++c) {
    tasks_total_ += program_of(ClassId(c)).tasks.size() * static_cast<std::uint64_t>(inputs_.graph.iterations);
  }
  background_.schedule();
  settling_ = true;  // tasks that end while the first tasks start are settled afterwards, in order
  for (std::size_t c = 0; c < progress_.size(); ++c) begin_iteration(ClassId(c));
  for (std::size_t i = 0; i < ended_.size(); ++i) settle(Ended(ended_[i]));
  ended_.clear();
  settling_ = false;

  RunResult result;
  const RunLimits limits{.max_events = kEventsPerLook, .max_events_per_instant = options_.max_events_per_instant};
  RunEnd end = inputs_.engine.run(limits);
  while (end == RunEnd::kTooManyEvents) {
    RunObserver* const observer = options_.observer;
    if (observer != nullptr && !observer->on_progress(done_share(), inputs_.engine.events_run())) break;
    end = inputs_.engine.run(limits);
  }
  if (end == RunEnd::kLivelock) result.outcome = RunOutcome::kLivelock;
  if (end == RunEnd::kTooManyEvents) result.outcome = RunOutcome::kStopped;
  if (end == RunEnd::kClockRanOut) result.outcome = RunOutcome::kClockRanOut;
  if (segments_ && segments_->is_disturbed()) return {.outcome = RunOutcome::kDisturbed};
  if (unproven_) return {.outcome = RunOutcome::kUnproven};
  if (end == RunEnd::kIdle && finished_classes_ < progress_.size()) {
    result.outcome = inputs_.network.given_up() ? RunOutcome::kGivenUp : RunOutcome::kStalled;
    result.stall = report_stall({.job = job_,
                                 .programs = plan_.programs,
                                 .progress = progress_,
                                 .iterations = iterations_,
                                 .collectives = *collectives_,
                                 .messages = messages_});
  }
  record_.time_in = ledger_.take();
  if (contended_) record_.interference = contended_->lost();
  record_.sent = std::move(job_.sent);
  record_.messages = job_.messages_in_all();
  record_.calls = calls();
  result.usage = usage();
  result.messages = std::move(job_.messages);
  result.skipped_iterations = skipped_;
  left_out_.extend(record_, result.usage);
  period_.extend(record_, result.usage);
  result.iterations_in_time = static_cast<int>(std::ranges::count_if(
      record_.iteration_end, [](TimePoint ended) { return ended > TimePoint() && !is_beyond_clock(ended); }));
  // Steps and cycles that were not simulated may also reach it.
  if (is_beyond_clock(record_.iteration_end.back())) result.outcome = RunOutcome::kClockRanOut;
  result.record = std::move(record_);
  return result;
}

RunResult execute(const ExecutorInputs& inputs, const ExecutorOptions& options) {
  return StepPlayer(inputs, options).run();
}

}  // namespace ringwright
