#include "core/run/executor.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "core/base/check.h"
#include "core/base/random.h"
#include "core/run/activity_ledger.h"
#include "core/run/background_traffic.h"
#include "core/run/call_times.h"
#include "core/run/collective_runner.h"
#include "core/run/contended_compute.h"
#include "core/run/host_clock.h"
#include "core/run/message_player.h"
#include "core/run/played_programs.h"
#include "core/run/progress.h"
#include "core/run/segment_player.h"
#include "core/run/step_period.h"

namespace ringwright {
namespace {

constexpr std::uint64_t kEventsPerLook = 500'000;  // between two looks at the observer
class Executor final : public CommunicationListener, public ComputeListener {
 public:
  Executor(const ExecutorInputs& inputs, const ExecutorOptions& options);
  RunResult run();
  void on_communication_ended(ClassId rank_class, std::uint32_t task) override {
    if (contended_) contended_->release(rank_class, task);
    calls_.end(rank_class, task, inputs_.engine.now());
    end_task(rank_class, task);
  }
  void on_computed(ClassId rank_class, std::uint32_t task) override;

 private:
  struct Ended {
    ClassId rank_class;
    std::uint32_t task;
  };

  [[nodiscard]] const Program& program_of(ClassId c) const {
    return plan_.programs[inputs_.graph.program_of[job_.rank_of(c).index()].index()];
  }
  [[nodiscard]] const ProgramIndex& index_of(ClassId c) const {
    return plan_.indices[inputs_.graph.program_of[job_.rank_of(c).index()].index()];
  }
  void begin_iteration(ClassId c);
  void try_start(ClassId c, std::uint32_t task);
  void start(ClassId c, std::uint32_t task);
  void start_communication(ClassId c, std::uint32_t task, Duration late = {});
  void hold_gpu(ClassId c, std::uint32_t task);
  void start_compute(ClassId c, std::uint32_t task);
  void start_segment(ClassId c, std::uint32_t task);
  [[nodiscard]] Duration compute_time(ClassId c, std::uint32_t task) const;
  void end_task(ClassId c, std::uint32_t task);
  void settle(const Ended& ended);
  void end_iteration(ClassId c);
  void look_for_period();
  [[nodiscard]] std::uint64_t state_digest(int iteration, std::uint64_t of_network);
  [[nodiscard]] double done_share() const {
    return tasks_total_ == 0 ? 1.0 : static_cast<double>(tasks_done_) / static_cast<double>(tasks_total_);
  }
  [[nodiscard]] std::vector<LinkUsage> usage() const {
    return segments_ ? segments_->with_usage(inputs_.network.usage()) : inputs_.network.usage();
  }
  void note_span(ClassId c, std::uint32_t task);

  ExecutorInputs inputs_;
  ExecutorOptions options_;
  PlayedPrograms plan_;
  HostClock host_;
  ActivityLedger ledger_;
  PlayedJob job_;
  std::optional<ContendedCompute> contended_;
  std::unique_ptr<CollectiveRunner> collectives_;
  MessagePlayer messages_;
  CallTimes calls_;
  std::optional<SegmentPlayer> segments_;
  BackgroundTraffic background_;
  std::vector<Progress> progress_;        // by class
  std::vector<Ended> ended_;              // tasks that ended and whose followers are not started yet
  bool settling_ = false;
  int iterations_ = 1;      // to play; fewer than asked for once they are known to repeat
  StepPeriod period_;
  int skipped_ = 0;
  std::size_t finished_classes_ = 0;
  std::uint64_t tasks_done_ = 0;
  std::uint64_t tasks_total_ = 0;
  std::vector<bool> recorded_;                        // by class
  std::vector<std::vector<TimePoint>> started_at_;    // by class, by task; of recorded classes
  RunRecord record_;
};

Executor::Executor(const ExecutorInputs& inputs, const ExecutorOptions& options)
    : inputs_(inputs),
      options_(options),
      plan_(inputs, options),
      host_({inputs.graph, plan_.programs, inputs.classes, inputs.compute, options.host_awaits_receives}),
      ledger_(inputs.classes.count(), inputs.graph.dimensions.size()),
      job_{.engine = inputs.engine,
           .graph = inputs.graph,
           .classes = inputs.classes,
           .network = inputs.network,
           .ledger = ledger_,
           .listener = *this,
           .sent = std::vector<std::vector<Bytes>>(inputs.classes.count(),
                                                   std::vector<Bytes>(inputs.graph.dimensions.size())),
           .messages = std::vector<std::uint64_t>(inputs.classes.count())},
      collectives_(make_collective_runner(job_, inputs)),
      messages_(job_, collectives_->carrier()),
      calls_(inputs.classes.count()),
      background_(job_),
      progress_(inputs.classes.count()),
      recorded_(inputs.classes.count(), false),
      started_at_(inputs.classes.count()) {
  for (const ClassId c : options.recorded) recorded_[c.index()] = true;
  if (inputs.footprint != nullptr) {
    contended_.emplace(ContendedCompute::Inputs{.engine = inputs.engine, .graph = inputs.graph, .compute = inputs.compute,
                                                .listener = *this, .classes = inputs.classes.count()});
    ledger_.watch_with(&*contended_);
  }
  if (plan_.at_once) segments_.emplace(job_, calls_, inputs, plan_);
  iterations_ = inputs.graph.iterations;
  record_.dimension_count = inputs.graph.dimensions.size();
  record_.finished_at.resize(inputs.classes.count());
  record_.iteration_end.resize(static_cast<std::size_t>(inputs.graph.iterations));
}

void Executor::begin_iteration(ClassId c) {
  const Program& program = program_of(c);
  const ProgramIndex& index = index_of(c);
  Progress& progress = progress_[c.index()];
  host_.begin(c, inputs_.engine.now());
  progress.pending = index.dependency_count;
  progress.state.assign(program.tasks.size(), TaskState::kWaiting);
  progress.stream_next.assign(index.stream_tasks.size(), 0);
  progress.stream_busy.assign(index.stream_tasks.size(), false);
  progress.unfinished = program.tasks.size();
  if (recorded_[c.index()]) started_at_[c.index()].resize(program.tasks.size());
  if (program.tasks.empty()) return end_iteration(c);
  for (const auto& tasks : index.stream_tasks) {
    if (!tasks.empty()) try_start(c, tasks.front());
  }
  for (const std::uint32_t task : index.streamless_roots) try_start(c, task);
}

void Executor::try_start(ClassId c, std::uint32_t task) {
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
  const Duration pause = host_.take_pause(c, task, inputs_.engine.now());
  if (pause <= Duration(0)) return start(c, task);
  inputs_.engine.after(pause, [this, c, task] { start(c, task); });
}

// What the host has not issued yet begins when it has; of computing, all but the last kernel may be under way by then,
// so that a work ends no earlier than it is issued.
void Executor::start(ClassId c, std::uint32_t task) {
  const TaskKind kind = program_of(c).tasks[task].kind;
  if (kind == TaskKind::kSegment) return start_segment(c, task);
  const bool computes = kind == TaskKind::kCompute;
  const auto begin = [this, c, task, computes] {
    if (recorded_[c.index()]) started_at_[c.index()][task] = inputs_.engine.now();
    computes ? start_compute(c, task) : start_communication(c, task);
  };
  Duration late = host_.counts() ? host_.issued(c, task) - inputs_.engine.now() : Duration();
  if (computes) late -= compute_time(c, task);
  if (late <= Duration(0)) return begin();
  // No event for each of the hundreds of receives that begin with a step and take nothing until their message comes.
  if (kind == TaskKind::kReceive && !contended_ && !recorded_[c.index()]) return start_communication(c, task, late);
  inputs_.engine.after(late, begin);
}

Duration Executor::compute_time(ClassId c, std::uint32_t task) const {
  const Duration time = plan_.work_duration[program_of(c).tasks[task].detail];
  const auto& slowdown = inputs_.graph.compute_slowdown;
  return slowdown.empty() ? time : scale(time, slowdown[job_.rank_of(c).index()]);
}

// From the launch of its kernel on, communication keeps multiprocessors.
void Executor::hold_gpu(ClassId c, std::uint32_t task) {
  const Task& entry = program_of(c).tasks[task];
  const TaskGraph& graph = inputs_.graph;
  if (entry.kind != TaskKind::kCollective) {
    const MessageSpec& message = graph.messages[entry.detail];
    return contended_->hold(c, {.dimension = entry.dimension, .task = task,
                                .takes = inputs_.footprint->of(message, entry.dimension, job_.rank_of(c)),
                                .once_data_move = entry.kind == TaskKind::kReceive});
  }
  const CollectiveSpec& spec = graph.collectives[entry.detail];
  const CollectiveCall call{.kind = spec.kind, .bytes = spec.bytes,
                            .layout = &graph.layouts[job_.layout_of(c, entry.dimension)], .dimension = entry.dimension};
  contended_->hold(c, {.dimension = entry.dimension, .task = task, .takes = inputs_.footprint->of(call)});
}

void Executor::start_communication(ClassId c, std::uint32_t task, Duration late) {
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
      collectives_->start({.rank_class = c, .dimension = entry.dimension, .spec = entry.detail, .sequence = sequence,
                          .iteration = progress_[c.index()].iteration, .task = task});
      return;
    case TaskKind::kSend:
      messages_.send({.rank_class = c, .dimension = entry.dimension, .spec = entry.detail, .sequence = sequence,
                      .iteration = progress_[c.index()].iteration, .task = task});
      return;
    case TaskKind::kReceive:
      if (messages_.receive({.rank_class = c, .dimension = entry.dimension, .spec = entry.detail,
                             .sequence = sequence, .iteration = progress_[c.index()].iteration, .task = task,
                             .not_before = inputs_.engine.now() + late})) {
        if (late <= Duration(0)) return on_communication_ended(c, task);
        inputs_.engine.after(late, [this, c, task] { on_communication_ended(c, task); });
      }
      return;
  }
}

void Executor::start_compute(ClassId c, std::uint32_t task) {
  const Duration time = compute_time(c, task);
  ledger_.begin_compute(c, inputs_.engine.now());
  progress_[c.index()].computing.emplace_back(task, inputs_.engine.now() + time);
  if (contended_) return contended_->compute(c, {.task = task, .work = program_of(c).tasks[task].detail, .alone = time});
  inputs_.engine.after(time, [this, c, task] { on_computed(c, task); });
}

void Executor::on_computed(ClassId c, std::uint32_t task) {
  progress_[c.index()].computed(task);
  ledger_.end_compute(c, inputs_.engine.now());
  end_task(c, task);
}

void Executor::start_segment(ClassId c, std::uint32_t task) {
  const TimePoint now = inputs_.engine.now();
  const Duration time = segments_->begin(c, program_of(c).tasks[task].detail, host_.issuing(c, task) - now);
  if (segments_->is_disturbed()) inputs_.engine.stop_after_instant();
  progress_[c.index()].computing.emplace_back(task, now + time);
  inputs_.engine.after(time, [this, c, task] {
    progress_[c.index()].computed(task);
    segments_->end(c);
    end_task(c, task);
  });
}

// Tasks may end while others are being started; a queue instead of recursion keeps the stack flat.
void Executor::end_task(ClassId c, std::uint32_t task) {
  ended_.push_back({.rank_class = c, .task = task});
  if (settling_) return;
  settling_ = true;
  for (std::size_t i = 0; i < ended_.size(); ++i) settle(Ended(ended_[i]));
  ended_.clear();
  settling_ = false;
}

void Executor::note_span(ClassId c, std::uint32_t task) {
  record_.spans.push_back({.rank_class = c,
                           .task = task,
                           .iteration = static_cast<std::uint32_t>(progress_[c.index()].iteration),
                           .start = started_at_[c.index()][task],
                           .end = inputs_.engine.now()});
}

void Executor::settle(const Ended& ended) {
  const ClassId c = ended.rank_class;
  Progress& progress = progress_[c.index()];
  const ProgramIndex& index = index_of(c);
  const StreamIndex stream = program_of(c).tasks[ended.task].stream;
  progress.state[ended.task] = TaskState::kDone;
  ++tasks_done_;
  if (recorded_[c.index()]) note_span(c, ended.task);
  host_.ended(c, ended.task, inputs_.engine.now());
  if (--progress.unfinished == 0) return end_iteration(c);
  if (stream != kNoStream) progress.stream_busy[stream] = false;
  for (const std::uint32_t dependent : index.dependents_of(ended.task)) {
    --progress.pending[dependent];
    try_start(c, dependent);
  }
  if (stream == kNoStream) return;
  const auto& order = index.stream_tasks[stream];
  const std::uint32_t next = progress.stream_next[stream];
  if (next < order.size()) try_start(c, order[next]);
}

void Executor::end_iteration(ClassId c) {
  Progress& progress = progress_[c.index()];
  const TimePoint now = inputs_.engine.now();
  TimePoint& end = record_.iteration_end[static_cast<std::size_t>(progress.iteration)];
  end = std::max(end, now);
  ++progress.iteration;
  if (progress.iteration == options_.warmup_iterations) {
    ledger_.restart(c, now);
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
  record_.finished_at[c.index()] = now;
  // What is still on its way then is background traffic, or nothing.
  if (++finished_classes_ == progress_.size()) inputs_.engine.stop_after_instant();
}

// At the end of the instant in which class 0 began an iteration.
void Executor::look_for_period() {
  const TimePoint now = inputs_.engine.now();
  const int ended = progress_.front().iteration - 1;
  job_.reference_iteration = ended;
  const auto of_network = inputs_.network.state_digest();
  // Ranks in lock-step are at most an iteration apart; where they are not, nothing is left out.
  const bool together = std::ranges::all_of(progress_, [ended](const Progress& progress) {
    return progress.iteration == ended || progress.iteration == ended + 1;
  });
  if (!of_network || !together) return;
  for (std::size_t c = 0; c < progress_.size(); ++c) ledger_.close(ClassId(c), now);
  skipped_ = period_.observe({.iteration = ended,
                              .at = now,
                              .digest = state_digest(ended, *of_network),
                              .time_in = ledger_.time_in(),
                              .sent = job_.sent,
                              .messages = job_.messages_in_all(),
                              .usage = usage()},
                             iterations_);
  tasks_total_ -= tasks_total_ / static_cast<std::uint64_t>(inputs_.graph.iterations) * static_cast<std::uint64_t>(skipped_);
  iterations_ -= skipped_;
}

std::uint64_t Executor::state_digest(int iteration, std::uint64_t of_network) {
  std::uint64_t hash = mix(mix(of_network, collectives_->state_digest()), host_.digest(inputs_.engine.now()));
  for (const Progress& progress : progress_) hash = mix(hash, digest(progress, inputs_.engine.now(), iteration));
  return hash;
}

RunResult Executor::run() {
  for (std::size_t c = 0; c < progress_.size(); ++c) {
    tasks_total_ += program_of(ClassId(c)).tasks.size() * static_cast<std::uint64_t>(inputs_.graph.iterations);
  }
  background_.schedule();
  settling_ = true;  // what ends while the first tasks start is settled afterwards, in order
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
  if (segments_ && segments_->is_disturbed()) return {.outcome = RunOutcome::kDisturbed};
  if (end == RunEnd::kIdle && finished_classes_ < progress_.size()) {
    result.outcome = RunOutcome::kStalled;
    result.stall = report_stall({.job = job_, .programs = plan_.programs, .progress = progress_, .iterations = iterations_,
                                 .collectives = *collectives_, .messages = messages_});
  }
  record_.time_in = ledger_.take();
  if (contended_) record_.lost_compute = contended_->lost();
  record_.sent = std::move(job_.sent);
  record_.messages = job_.messages_in_all();
  if (segments_) segments_->add_calls(calls_);
  record_.calls = calls_.take();
  result.usage = usage();
  result.messages = std::move(job_.messages);
  result.skipped_iterations = skipped_;
  period_.extend(record_, result.usage);
  result.record = std::move(record_);
  return result;
}

}  // namespace

RunResult execute(const ExecutorInputs& inputs, const ExecutorOptions& options) {
  return Executor(inputs, options).run();
}

}  // namespace ringwright
