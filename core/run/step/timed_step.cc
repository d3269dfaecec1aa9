#include "core/run/step/timed_step.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ringwright {

bool TimedStep::covers(const ExecutorInputs& inputs, const ExecutorOptions& options) {
  const TaskGraph& graph = inputs.graph;
  const bool steady = graph.background.empty() && graph.jobs.empty() && graph.cycles_left_out == 0;
  const bool recorded = !options.recorded.empty() || options.record_waits;
  return options.figures == RunFigures::kTimes && steady && !recorded && inputs.collective_time != nullptr &&
         inputs.channels == nullptr && inputs.footprint == nullptr && inputs.rehearsed == nullptr &&
         TimedMessages::cover(graph);
}

TimedStep::TimedStep(const ExecutorInputs& inputs, const ExecutorOptions& options)
    : inputs_(inputs),
      options_(options),
      plan_(inputs, options),
      host_({inputs.graph, plan_.programs(), inputs.classes, inputs.compute, options.host_awaits_receives}),
      messages_({.graph = inputs.graph, .classes = inputs.classes}, inputs.network, inputs.call_overhead),
      calls_({.graph = inputs.graph, .classes = inputs.classes}, *inputs.collective_time),
      log_(inputs.classes.count(), inputs.graph.dimensions.size()),
      progress_(inputs.classes.count()) {
  const std::size_t classes = inputs.classes.count();
  totals_.counts_from.resize(classes);
  totals_.iteration_end.resize(static_cast<std::size_t>(inputs.graph.iterations));
  totals_.sent.assign(classes, std::vector<Bytes>(inputs.graph.dimensions.size()));
  totals_.started.resize(classes);
  if (plan_.at_once) {
    segments_.emplace(PassInputs{.graph = inputs.graph,
                                 .classes = inputs.classes,
                                 .work_duration = plan_.work_duration,
                                 .compute = inputs.compute,
                                 .collective_time = inputs.collective_time});
  }
}

std::optional<RunResult> TimedStep::evaluate() {
  for (std::size_t c = 0; c < progress_.size(); ++c) {
    const RankId rank = inputs_.classes.representative[c];
    progress_[c].undisturbed.resize(inputs_.graph.segments.size());
    progress_[c].program = &plan_.programs()[inputs_.graph.program_of[rank.index()].index()];
    begin_iteration(ClassId(c));
    wake(ClassId(c));
  }
  // In rounds: each class goes on as far as it can, through many tasks one after another in memory.
  std::vector<ClassId> round;
  while (!ready_.empty() && !unknown_) {
    round.swap(ready_);
    for (const ClassId c : round) {
      progress_[c.index()].waits_in_ready = false;
      advance(c);
    }
    round.clear();
  }
  if (unknown_ || calls_.differ() || totals_.ended < progress_.size()) return std::nullopt;
  return take_result();
}

void TimedStep::begin_iteration(ClassId c) {
  Progress& own = progress_[c.index()];
  own.began = own.last_end;
  own.next = 0;
  own.ends.assign(own.program->tasks.size(), kOpen);
  own.last_on_stream.assign(static_cast<std::size_t>(own.program->stream_count), kNoTask);
  own.receives.clear();
  own.open_receives = 0;
  own.host_moved_at = own.began;
  own.host_moved_by = kNoTask;
  own.host_moved_at_once = false;
  own.on_other_streams.clear();
  host_.begin(c, own.began);
}

void TimedStep::wake(ClassId c) {
  Progress& own = progress_[c.index()];
  if (own.waits_in_ready || own.iteration == inputs_.graph.iterations) return;
  own.waits_in_ready = true;
  own.awaited.reset();
  ready_.push_back(c);
}

void TimedStep::advance(ClassId c) {
  Progress& own = progress_[c.index()];
  while (own.iteration < inputs_.graph.iterations && !unknown_) {
    for (const std::size_t end = own.program->tasks.size(); own.next < end; ++own.next) {
      if (!pass(c, own, own.next) || unknown_) return;
    }
    if (!end_iteration(c)) return;
  }
}

// With the last of its tasks.
bool TimedStep::end_iteration(ClassId c) {
  Progress& own = progress_[c.index()];
  own.awaited.reset();
  if (own.open_calls > 0) return false;
  for (; own.open_receives < own.receives.size(); ++own.open_receives) {
    const Receive& receive = own.receives[own.open_receives];
    const TimePoint arrival = messages_.arrival(receive.channel, receive.number);
    if (arrival == kNotKnown) {
      own.awaited = receive.channel;
      return false;
    }
    own.last_end = std::max({own.last_end, arrival, receive.earliest});
  }
  unknown_ = unknown_ || is_beyond_clock(own.last_end);
  TimePoint& end = totals_.iteration_end[static_cast<std::size_t>(own.iteration)];
  end = std::max(end, own.last_end);
  ++own.iteration;
  if (own.iteration == options_.warmup_iterations) totals_.counts_from[c.index()] = own.last_end;
  if (own.iteration == inputs_.graph.iterations) {
    ++totals_.ended;
  } else {
    begin_iteration(c);
  }
  return true;
}

TimePoint TimedStep::end_of_pending(Progress& own, std::uint32_t task) const {
  std::int64_t& end = own.ends[task];
  own.awaited.reset();
  if (end == kOpen) return kNotKnown;
  const Receive& receive = own.receives[static_cast<std::size_t>(kOpen - 1 - end)];
  const TimePoint arrival = messages_.arrival(receive.channel, receive.number);
  if (arrival == kNotKnown) {
    own.awaited = receive.channel;
    return kNotKnown;
  }
  const TimePoint at = std::max(arrival, receive.earliest);
  end = at.since_start().count();
  return at;
}

// When its stream and everything that it depends on are free.
TimePoint TimedStep::ready(Progress& own, const Task& entry) const {
  TimePoint at = own.began;
  const std::uint32_t* const dependencies = own.program->dependencies.data() + entry.first_dependency;
  for (std::uint32_t d = 0; d < entry.dependency_count; ++d) {
    const TimePoint end = end_of(own, dependencies[d]);
    if (end == kNotKnown) return kNotKnown;
    at = std::max(at, end);
  }
  if (entry.stream == kNoStream || own.last_on_stream[entry.stream] == kNoTask) return at;
  const TimePoint end = end_of(own, own.last_on_stream[entry.stream]);
  return end == kNotKnown ? kNotKnown : std::max(at, end);
}

bool TimedStep::pass(ClassId c, Progress& own, std::uint32_t task) {
  const Task& entry = own.program->tasks[task];
  const TimePoint at = ready(own, entry);
  if (at == kNotKnown) return false;
  if (entry.kind == TaskKind::kReceive) return pass_receive(c, task, at);
  const TimePoint begin = host_.pauses() ? resumed(c, task, at) : at;
  const Duration computing = entry.kind == TaskKind::kCompute ? compute_time(c, entry) : Duration();
  switch (entry.kind) {
    case TaskKind::kReceive: break;
    case TaskKind::kSegment: pass_segment(c, task, begin); break;
    case TaskKind::kSend: pass_send(c, task, issued(c, task, begin, computing)); break;
    case TaskKind::kCollective: pass_collective(c, task, issued(c, task, begin, computing)); break;
    case TaskKind::kCompute: {
      const TimePoint from = issued(c, task, begin, computing);
      if (entry.stream != kNoStream) log_.add_compute(c, from, from + computing);
      end_task(own, task, from + computing);
      break;
    }
  }
  if (entry.stream != kNoStream) own.last_on_stream[entry.stream] = task;
  if (entry.stream != kComputeStream && options_.host_awaits_receives) own.on_other_streams.emplace_back(task, begin);
  return true;
}

// A host that waits for messages has to know when they arrive before it goes on.
bool TimedStep::pass_receive(ClassId c, std::uint32_t task, TimePoint at) {
  Progress& own = progress_[c.index()];
  const Task& entry = own.program->tasks[task];
  const TimedMessages::End* const end = messages_.find(c, entry);
  if (end == nullptr) {
    unknown_ = true;
    return false;
  }
  const std::uint32_t number = messages_.next(*end);
  const TimePoint arrival = messages_.arrival(end->channel, number);
  if (options_.host_awaits_receives && arrival == kNotKnown) {
    own.awaited = end->channel;
    return false;
  }
  const TimePoint earliest = issued(c, task, at, Duration());
  messages_.receive(*end);
  if (arrival != kNotKnown) {
    end_task(own, task, std::max(arrival, earliest));
    const TimePoint ended(Duration(own.ends[task]));
    if (host_.ended(c, task, ended)) note_host(own, task, ended);
  } else {
    own.ends[task] = kOpen - 1 - static_cast<std::int64_t>(own.receives.size());
    own.receives.push_back({.channel = end->channel, .number = number, .earliest = earliest});
  }
  if (entry.stream != kNoStream) own.last_on_stream[entry.stream] = task;
  if (at > own.began && options_.host_awaits_receives) own.on_other_streams.emplace_back(task, at);
  return true;
}

void TimedStep::pass_send(ClassId c, std::uint32_t task, TimePoint at) {
  Progress& own = progress_[c.index()];
  const Task& entry = own.program->tasks[task];
  TimedMessages::End* const end = messages_.find(c, entry);
  if (end == nullptr) {
    unknown_ = true;
    return;
  }
  end_task(own, task, messages_.send(*end, at));
  // Messages of a channel are sent in the order in which they are received.
  if (progress_[end->peer.index()].awaited == end->channel) wake(end->peer);
}

void TimedStep::pass_collective(ClassId c, std::uint32_t task, TimePoint at) {
  const Task& entry = progress_[c.index()].program->tasks[task];
  ++progress_[c.index()].open_calls;
  const std::optional<TimedCalls::Call> call = calls_.join({.rank_class = c, .task = task}, entry, at);
  if (!call) return;
  for (const TimedCalls::Member& member : call->members) {
    Progress& own = progress_[member.rank_class.index()];
    log_.add_communication(member.rank_class, entry.dimension, call->begin, call->begin + call->time);
    totals_.sent[member.rank_class.index()][entry.dimension.index()] += call->sent;
    --own.open_calls;
    end_task(own, member.task, call->begin + call->time);
    if (member.rank_class != c) wake(member.rank_class);
  }
}

void TimedStep::pass_segment(ClassId c, std::uint32_t task, TimePoint at) {
  Progress& own = progress_[c.index()];
  const std::uint32_t segment = own.program->tasks[task].detail;
  const Duration behind = host_.issuing(c, task) - at;
  const SegmentTimeline& timeline = segments_->undisturbed(segment, c);
  if (behind + timeline.host_lead > Duration(0)) return pass_late_segment(c, task, at, behind);
  ++own.undisturbed[segment];
  log_.add_profile(c, timeline.profile, at);
  end_task(own, task, at + timeline.profile.length());
}

void TimedStep::pass_late_segment(ClassId c, std::uint32_t task, TimePoint at, Duration behind) {
  Progress& own = progress_[c.index()];
  const SegmentTimeline& timeline = segments_->of(own.program->tasks[task].detail, c, behind);
  // It is needed until the end.
  if (!sees_host(own, task, at) || !segments_->keeps_all()) unknown_ = true;
  for (std::size_t d = 0; d < timeline.sent.size(); ++d) totals_.sent[c.index()][d] += timeline.sent[d];
  totals_.started[c.index()] += timeline.messages;
  log_.add_profile(c, timeline.profile, at);
  end_task(own, task, at + timeline.profile.length());
}

// After a pause of the device while its host goes from a message to the task.
TimePoint TimedStep::resumed(ClassId c, std::uint32_t task, TimePoint at) {
  const Duration pause = host_.take_pause(c, task, at);
  if (pause <= Duration(0)) return at;
  Progress& own = progress_[c.index()];
  // Tasks before it that begin later, on another stream, had been issued anyway.
  std::erase_if(own.on_other_streams, [at](const auto& begun) { return begun.second < at; });
  const auto depends = [&](const auto& begun) { return host_.issued(c, begun.first) > begun.second; };
  if (std::ranges::any_of(own.on_other_streams, depends)) unknown_ = true;
  note_host(own, task, at);
  return at + pause;
}

// When a task that could begin at that moment begins, since the host issues it: computing ends no earlier than it is
// issued.
TimePoint TimedStep::issued_by_host(ClassId c, std::uint32_t task, TimePoint at, Duration computing) {
  const Progress& own = progress_[c.index()];
  // Before the host had waited for anything: receives begin with the iteration.
  const bool at_once = at == own.began && !own.host_moved_at_once;
  const TimePoint issued = at_once ? host_.issuing_unhindered(c, task + 1) : host_.issued(c, task);
  const Duration late = issued - at - computing;
  if (late <= Duration(0)) return at;
  if (!at_once && !sees_host(own, task, at)) unknown_ = true;
  return at + late;
}

// Whether the host had waited by then for all that it has waited for so far. An earlier position could only make a late
// task less late.
bool TimedStep::sees_host(const Progress& own, std::uint32_t task, TimePoint at) const {
  if (at > own.host_moved_at || own.host_moved_by == kNoTask || own.host_moved_by == task) return true;
  if (at < own.host_moved_at) return false;
  const Task& entry = own.program->tasks[task];
  const auto awaited = std::span(own.program->dependencies).subspan(entry.first_dependency, entry.dependency_count);
  return std::ranges::find(awaited, own.host_moved_by) != awaited.end();
}

void TimedStep::note_host(Progress& own, std::uint32_t task, TimePoint at) {
  own.host_moved_at_once = own.host_moved_at_once || at == own.began;
  if (at < own.host_moved_at) return;
  own.host_moved_at = at;
  own.host_moved_by = task;
}

void TimedStep::end_task(Progress& own, std::uint32_t task, TimePoint at) {
  if (is_beyond_clock(at)) unknown_ = true;
  own.ends[task] = at.since_start().count();
  own.last_end = std::max(own.last_end, at);
}

Duration TimedStep::compute_time(ClassId c, const Task& task) const {
  const Duration time = plan_.work_duration[task.detail];
  const auto& slowdown = inputs_.graph.compute_slowdown;
  return slowdown.empty() ? time : scale(time, slowdown[inputs_.classes.representative[c.index()].index()]);
}

// What tasks of one kind have sent, added up at once.
void TimedStep::count_sent() {
  messages_.visit_senders([this](ClassId c, const TimedMessages::End& end) {
    const auto times = static_cast<std::int64_t>(end.sent);
    totals_.sent[c.index()][end.dimension.index()] += inputs_.graph.messages[end.spec].bytes * times;
    totals_.started[c.index()] += end.sent;
  });
  for (std::size_t c = 0; c < progress_.size(); ++c) {
    const std::vector<std::uint32_t>& undisturbed = progress_[c].undisturbed;
    for (std::uint32_t segment = 0; segment < undisturbed.size(); ++segment) {
      if (undisturbed[segment] == 0) continue;
      const SegmentTimeline& timeline = segments_->undisturbed(segment, ClassId(c));
      const auto times = std::int64_t{undisturbed[segment]};
      for (std::size_t d = 0; d < timeline.sent.size(); ++d) totals_.sent[c][d] += timeline.sent[d] * times;
      totals_.started[c] += timeline.messages * undisturbed[segment];
    }
  }
}

std::optional<RunResult> TimedStep::take_result() {
  count_sent();
  RunResult result;
  RunRecord& record = result.record;
  record.dimension_count = inputs_.graph.dimensions.size();
  record.time_in.resize(progress_.size());
  messages_.note(log_);
  for (std::size_t c = 0; c < progress_.size(); ++c) {
    const TimePoint end = progress_[c].last_end;
    if (!log_.add_up(ClassId(c), {.from = totals_.counts_from[c], .to = end}, record.time_in[c])) return std::nullopt;
    record.finished_at.push_back(end);
  }
  record.iteration_end = std::move(totals_.iteration_end);
  record.sent = std::move(totals_.sent);
  record.messages = std::accumulate(totals_.started.begin(), totals_.started.end(), std::uint64_t{0});
  result.messages = std::move(totals_.started);
  result.iterations_in_time = inputs_.graph.iterations;
  return result;
}

}  // namespace ringwright
