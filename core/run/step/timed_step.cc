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
      host_({inputs.graph, plan_.programs, inputs.classes, inputs.compute, options.host_awaits_receives}),
      messages_({.graph = inputs.graph, .classes = inputs.classes}, inputs.network, inputs.call_overhead),
      calls_({.graph = inputs.graph, .classes = inputs.classes}, *inputs.collective_time),
      log_(inputs.classes.count(), inputs.graph.dimensions.size()),
      lanes_(inputs.classes.count()) {
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
  for (std::size_t c = 0; c < lanes_.size(); ++c) {
    lanes_[c].program = &plan_.programs[inputs_.graph.program_of[inputs_.classes.representative[c].index()].index()];
    begin_iteration(ClassId(c));
    wake(ClassId(c));
  }
  // In rounds: each class goes on as far as it can, through many tasks one after another in memory.
  std::vector<ClassId> round;
  while (!ready_.empty() && !unknown_) {
    round.swap(ready_);
    for (const ClassId c : round) {
      lanes_[c.index()].waits_in_ready = false;
      advance(c);
    }
    round.clear();
  }
  if (unknown_ || calls_.differ() || totals_.ended < lanes_.size()) return std::nullopt;
  return take_result();
}

void TimedStep::begin_iteration(ClassId c) {
  Lane& lane = lanes_[c.index()];
  lane.began = lane.last_end;
  lane.next = 0;
  lane.ends.assign(lane.program->tasks.size(), kOpen);
  lane.last_on_stream.assign(static_cast<std::size_t>(lane.program->stream_count), kNoTask);
  lane.receives.clear();
  lane.open_receives = 0;
  lane.host_moved_at = lane.began;
  lane.host_moved_by = kNoTask;
  lane.host_moved_at_once = false;
  lane.on_other_streams.clear();
  host_.begin(c, lane.began);
}

void TimedStep::wake(ClassId c) {
  Lane& lane = lanes_[c.index()];
  if (lane.waits_in_ready || lane.iteration == inputs_.graph.iterations) return;
  lane.waits_in_ready = true;
  lane.awaited.reset();
  ready_.push_back(c);
}

void TimedStep::advance(ClassId c) {
  Lane& lane = lanes_[c.index()];
  while (lane.iteration < inputs_.graph.iterations && !unknown_) {
    while (lane.next < lane.program->tasks.size()) {
      if (!pass(c, lane.next) || unknown_) return;
      ++lane.next;
    }
    if (!end_iteration(c)) return;
  }
}

// With the last of its tasks.
bool TimedStep::end_iteration(ClassId c) {
  Lane& lane = lanes_[c.index()];
  lane.awaited.reset();
  if (lane.open_calls > 0) return false;
  for (; lane.open_receives < lane.receives.size(); ++lane.open_receives) {
    const Receive& receive = lane.receives[lane.open_receives];
    const std::optional<TimePoint> arrival = messages_.arrival(receive.channel, receive.number);
    if (!arrival) {
      lane.awaited = receive.channel;
      return false;
    }
    lane.last_end = std::max({lane.last_end, *arrival, receive.earliest});
  }
  unknown_ = unknown_ || is_beyond_clock(lane.last_end);
  TimePoint& end = totals_.iteration_end[static_cast<std::size_t>(lane.iteration)];
  end = std::max(end, lane.last_end);
  ++lane.iteration;
  if (lane.iteration == options_.warmup_iterations) totals_.counts_from[c.index()] = lane.last_end;
  if (lane.iteration == inputs_.graph.iterations) {
    ++totals_.ended;
  } else {
    begin_iteration(c);
  }
  return true;
}

std::optional<TimePoint> TimedStep::end_of_pending(Lane& lane, std::uint32_t task) const {
  std::int64_t& end = lane.ends[task];
  lane.awaited.reset();
  if (end == kOpen) return std::nullopt;
  const Receive& receive = lane.receives[static_cast<std::size_t>(kOpen - 1 - end)];
  const std::optional<TimePoint> arrival = messages_.arrival(receive.channel, receive.number);
  if (!arrival) {
    lane.awaited = receive.channel;
    return std::nullopt;
  }
  const TimePoint at = std::max(*arrival, receive.earliest);
  end = at.since_start().count();
  return at;
}

// When its stream and everything that it depends on are free; empty: not known yet.
std::optional<TimePoint> TimedStep::ready(Lane& lane, std::uint32_t task) const {
  const Task& entry = lane.program->tasks[task];
  TimePoint at = lane.began;
  const std::uint32_t* const dependencies = lane.program->dependencies.data() + entry.first_dependency;
  for (std::uint32_t d = 0; d < entry.dependency_count; ++d) {
    std::int64_t& end = lane.ends[dependencies[d]];
    if (end < 0 && !end_of_pending(lane, dependencies[d])) return std::nullopt;
    at = std::max(at, TimePoint(Duration(end)));
  }
  if (entry.stream == kNoStream || lane.last_on_stream[entry.stream] == kNoTask) return at;
  const std::optional<TimePoint> end = end_of(lane, lane.last_on_stream[entry.stream]);
  return end ? std::optional(std::max(at, *end)) : std::nullopt;
}

bool TimedStep::pass(ClassId c, std::uint32_t task) {
  Lane& lane = lanes_[c.index()];
  const std::optional<TimePoint> at = ready(lane, task);
  if (!at) return false;
  const Task& entry = lane.program->tasks[task];
  if (entry.kind == TaskKind::kReceive) return pass_receive(c, task, *at);
  const TimePoint begin = resumed(c, task, *at);
  const Duration computing = entry.kind == TaskKind::kCompute ? compute_time(c, entry) : Duration();
  switch (entry.kind) {
    case TaskKind::kReceive: break;
    case TaskKind::kSegment: pass_segment(c, task, begin); break;
    case TaskKind::kSend: pass_send(c, task, issued(c, task, begin, computing)); break;
    case TaskKind::kCollective: pass_collective(c, task, issued(c, task, begin, computing)); break;
    case TaskKind::kCompute: {
      const TimePoint from = issued(c, task, begin, computing);
      if (entry.stream != kNoStream) log_.add_compute(c, from, from + computing);
      end_task(lane, task, from + computing);
      break;
    }
  }
  if (entry.stream != kNoStream) lane.last_on_stream[entry.stream] = task;
  if (entry.stream != kComputeStream && options_.host_awaits_receives) lane.on_other_streams.emplace_back(task, begin);
  return true;
}

// A host that waits for messages has to know when they arrive before it goes on.
bool TimedStep::pass_receive(ClassId c, std::uint32_t task, TimePoint at) {
  Lane& lane = lanes_[c.index()];
  const Task& entry = lane.program->tasks[task];
  const TimedMessages::End* const end = messages_.find(c, entry);
  if (end == nullptr) {
    unknown_ = true;
    return false;
  }
  const std::uint32_t number = messages_.next(*end);
  const std::optional<TimePoint> arrival = messages_.arrival(end->channel, number);
  if (options_.host_awaits_receives && !arrival) {
    lane.awaited = end->channel;
    return false;
  }
  const TimePoint earliest = issued(c, task, at, Duration());
  messages_.receive(*end);
  if (arrival) {
    end_task(lane, task, std::max(*arrival, earliest));
    const TimePoint ended(Duration(lane.ends[task]));
    if (host_.ended(c, task, ended)) note_host(lane, task, ended);
  } else {
    lane.ends[task] = kOpen - 1 - static_cast<std::int64_t>(lane.receives.size());
    lane.receives.push_back({.channel = end->channel, .number = number, .earliest = earliest});
  }
  if (entry.stream != kNoStream) lane.last_on_stream[entry.stream] = task;
  if (at > lane.began && options_.host_awaits_receives) lane.on_other_streams.emplace_back(task, at);
  return true;
}

void TimedStep::pass_send(ClassId c, std::uint32_t task, TimePoint at) {
  Lane& lane = lanes_[c.index()];
  const Task& entry = lane.program->tasks[task];
  const TimedMessages::End* const end = messages_.find(c, entry);
  if (end == nullptr) {
    unknown_ = true;
    return;
  }
  const TimePoint arrives = at + end->takes;
  messages_.send(*end, arrives);
  log_.add_communication(c, entry.dimension, at, arrives);
  log_.add_communication(end->peer, entry.dimension, at, arrives);
  totals_.sent[c.index()][entry.dimension.index()] += inputs_.graph.messages[entry.detail].bytes;
  ++totals_.started[c.index()];
  end_task(lane, task, arrives);
  // Messages of a channel are sent in the order in which they are received.
  if (lanes_[end->peer.index()].awaited == end->channel) wake(end->peer);
}

void TimedStep::pass_collective(ClassId c, std::uint32_t task, TimePoint at) {
  const Task& entry = lanes_[c.index()].program->tasks[task];
  ++lanes_[c.index()].open_calls;
  const std::optional<TimedCalls::Call> call = calls_.join({.rank_class = c, .task = task}, entry, at);
  if (!call) return;
  for (const TimedCalls::Member& member : call->members) {
    Lane& lane = lanes_[member.rank_class.index()];
    log_.add_communication(member.rank_class, entry.dimension, call->begin, call->begin + call->time);
    totals_.sent[member.rank_class.index()][entry.dimension.index()] += call->sent;
    --lane.open_calls;
    end_task(lane, member.task, call->begin + call->time);
    if (member.rank_class != c) wake(member.rank_class);
  }
}

void TimedStep::pass_segment(ClassId c, std::uint32_t task, TimePoint at) {
  Lane& lane = lanes_[c.index()];
  const std::uint32_t segment = lane.program->tasks[task].detail;
  const Duration behind = host_.issuing(c, task) - at;
  const SegmentTimeline& timeline = segments_->of(segment, c, behind);
  const bool late = &timeline != &segments_->undisturbed(segment, c);
  // The timeline of a late host is needed until the end.
  if (late && (!sees_host(lane, task, at) || !segments_->keeps_all())) unknown_ = true;
  for (std::size_t d = 0; d < timeline.sent.size(); ++d) totals_.sent[c.index()][d] += timeline.sent[d];
  totals_.started[c.index()] += timeline.messages;
  log_.add_profile(c, timeline.profile, at);
  end_task(lane, task, at + timeline.profile.length());
}

// After a pause of the device while its host goes from a message to the task.
TimePoint TimedStep::resumed(ClassId c, std::uint32_t task, TimePoint at) {
  const Duration pause = host_.take_pause(c, task, at);
  if (pause <= Duration(0)) return at;
  Lane& lane = lanes_[c.index()];
  // Tasks before it that begin later, on another stream, had been issued anyway.
  std::erase_if(lane.on_other_streams, [at](const auto& begun) { return begun.second < at; });
  const auto depends = [&](const auto& begun) { return host_.issued(c, begun.first) > begun.second; };
  if (std::ranges::any_of(lane.on_other_streams, depends)) unknown_ = true;
  note_host(lane, task, at);
  return at + pause;
}

// When a task that could begin at that moment begins, since the host issues it: computing ends no earlier than it is
// issued.
TimePoint TimedStep::issued(ClassId c, std::uint32_t task, TimePoint at, Duration computing) {
  if (!host_.counts()) return at;
  const Lane& lane = lanes_[c.index()];
  // Before the host had waited for anything: receives begin with the iteration.
  const bool at_once = at == lane.began && !lane.host_moved_at_once;
  const TimePoint issued = at_once ? host_.issuing_unhindered(c, task + 1) : host_.issued(c, task);
  const Duration late = issued - at - computing;
  if (late <= Duration(0)) return at;
  if (!at_once && !sees_host(lane, task, at)) unknown_ = true;
  return at + late;
}

// Whether the host had waited by then for all that it has waited for so far. An earlier position could only make a late
// task less late.
bool TimedStep::sees_host(const Lane& lane, std::uint32_t task, TimePoint at) const {
  if (at > lane.host_moved_at || lane.host_moved_by == kNoTask || lane.host_moved_by == task) return true;
  if (at < lane.host_moved_at) return false;
  const Task& entry = lane.program->tasks[task];
  const auto awaited = std::span(lane.program->dependencies).subspan(entry.first_dependency, entry.dependency_count);
  return std::ranges::find(awaited, lane.host_moved_by) != awaited.end();
}

void TimedStep::note_host(Lane& lane, std::uint32_t task, TimePoint at) {
  lane.host_moved_at_once = lane.host_moved_at_once || at == lane.began;
  if (at < lane.host_moved_at) return;
  lane.host_moved_at = at;
  lane.host_moved_by = task;
}

void TimedStep::end_task(Lane& lane, std::uint32_t task, TimePoint at) {
  if (is_beyond_clock(at)) unknown_ = true;
  lane.ends[task] = at.since_start().count();
  lane.last_end = std::max(lane.last_end, at);
}

Duration TimedStep::compute_time(ClassId c, const Task& task) const {
  const Duration time = plan_.work_duration[task.detail];
  const auto& slowdown = inputs_.graph.compute_slowdown;
  return slowdown.empty() ? time : scale(time, slowdown[inputs_.classes.representative[c.index()].index()]);
}

std::optional<RunResult> TimedStep::take_result() {
  RunResult result;
  RunRecord& record = result.record;
  record.dimension_count = inputs_.graph.dimensions.size();
  record.time_in.resize(lanes_.size());
  for (std::size_t c = 0; c < lanes_.size(); ++c) {
    const TimePoint end = lanes_[c].last_end;
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
