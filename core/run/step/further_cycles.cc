#include "core/run/step/further_cycles.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/check.h"
#include "core/plan/longer_loop.h"

namespace ringwright {
namespace {

bool begins_with_step(const Task& task) {
  return task.kind == TaskKind::kReceive && task.stream == kNoStream && task.dependency_count == 0;
}

// Of the first iteration.
MessagePlayer::Request receive_of(ClassId c, std::uint32_t number, const Task& task, const ProgramIndex& index) {
  return {.rank_class = c,
          .dimension = task.dimension,
          .spec = task.detail,
          .sequence = index.occurrence[number],
          .iteration = 0,
          .task = number,
          .not_before = {}};
}

}  // namespace

FurtherCycles::FurtherCycles(RunState& run, const ExecutorInputs& inputs, const ExecutorOptions& options)
    : run_(run), inputs_(inputs), options_(options), near_end_(inputs.classes.count()) {
  look_for_ends();
}

void FurtherCycles::look_for_ends() {
  for (std::size_t c = 0; c < near_end_.size(); ++c) {
    const Loop& loop = run_.streams.program_of(ClassId(c)).loop;
    near_end_[c] = loop.first + loop.size * (std::max(loop.cycles, 2U) - 2);
  }
}

// So few that not many are simulated in vain, and so many that not much time is spent on inserting them.
std::uint32_t FurtherCycles::suggested() const {
  std::uint32_t most = 0;
  for (const Program& program : run_.plan.programs()) most = std::max(most, program.loop.cycles);
  return std::max(most / 16, 2U);
}

bool FurtherCycles::insert(std::uint32_t cycles) {
  Longer longer = lengthen(cycles);
  if (!may_insert(longer, cycles)) {
    std::ranges::fill(near_end_, std::numeric_limits<std::uint32_t>::max());
    return false;
  }
  put_in(std::move(longer), cycles);
  inserted_ += cycles;
  look_for_ends();
  return true;
}

FurtherCycles::Longer FurtherCycles::lengthen(std::uint32_t cycles) const {
  Longer longer;
  for (const Program& program : run_.plan.programs()) {
    longer.programs.push_back(with_more_cycles(program, cycles));
    longer.indices.push_back(index_program(inputs_.graph, longer.programs.back()));
  }
  return longer;
}

bool FurtherCycles::may_insert(const Longer& longer, std::uint32_t cycles) const {
  for (std::size_t c = 0; c < near_end_.size(); ++c) {
    if (!is_untouched(ClassId(c)) || !met_none(ClassId(c), longer)) return false;
    if (run_.contention && !would_be_posted(ClassId(c), cycles)) return false;
  }
  return true;
}

// The last cycle and what is behind it, but for receives that began with the step.
bool FurtherCycles::is_untouched(ClassId c) const {
  const Progress& progress = run_.streams.of(c);
  const Loop& loop = run_.streams.program_of(c).loop;
  if (loop.cycles < 2 || progress.iteration > 0 || progress.farthest + loop.size >= loop.end()) return false;
  const auto& order = run_.streams.index_of(c).stream_tasks;
  for (std::size_t stream = 0; stream < order.size(); ++stream) {
    const std::uint32_t next = progress.streams[stream].next;
    if (next > 0 && order[stream][next - 1] + loop.size >= loop.end()) return false;
  }
  const MessagePlayer& messages = run_.communication.messages();
  return messages.all_of_waiting(c, [&](const MessagePlayer::Request& receive) {
    return receive.task + loop.size < loop.end() || receive.not_before == receive_issued(c, receive.task);
  });
}

// Whether all receives that begin with the step would have been issued by now, with so many more cycles, and those
// behind the last but one wait for their data.
bool FurtherCycles::would_be_posted(ClassId c, std::uint32_t cycles) const {
  const Program& program = run_.streams.program_of(c);
  const Loop& loop = program.loop;
  const std::uint32_t last_cycle = loop.end() - loop.size;
  if (run_.contention->compute().holds_from(c, last_cycle)) return false;
  for (const auto& [task, at] : run_.streams.of(c).delayed) {
    if (begins_with_step(program.tasks[task])) return false;
  }
  const Duration cycle = run_.host.issued(c, loop.end() - 1) - run_.host.issued(c, last_cycle - 1);
  for (std::uint32_t task = last_cycle; task < program.tasks.size(); ++task) {
    if (!begins_with_step(program.tasks[task])) continue;
    if (receive_issued(c, task) + cycle * std::int64_t{cycles} > run_.engine.now()) return false;
  }
  return true;
}

// No message has arrived for a receive of the longer program that its step begins with.
bool FurtherCycles::met_none(ClassId c, const Longer& longer) const {
  const Program& program = longer.programs[program_of(c)];
  const ProgramIndex& index = longer.indices[program_of(c)];
  for (std::uint32_t task = run_.streams.program_of(c).loop.end(); task < program.tasks.size(); ++task) {
    const Task& entry = program.tasks[task];
    if (!begins_with_step(entry)) continue;
    if (run_.communication.messages().has_arrived(receive_of(c, task, entry, index))) return false;
  }
  return true;
}

// Of a receive that began with the step: what its sender stores, no host issues.
TimePoint FurtherCycles::receive_issued(ClassId c, std::uint32_t task) const {
  const Task& entry = run_.streams.task(c, task);
  const bool by_sender = inputs_.graph.messages[entry.detail].moved_by == MovedBy::kSender;
  return by_sender ? run_.host.began(c) : run_.host.issued_unhindered(c, task);
}

void FurtherCycles::put_in(Longer longer, std::uint32_t cycles) {
  std::vector<Loop> loops;
  for (std::size_t c = 0; c < near_end_.size(); ++c) loops.push_back(run_.streams.program_of(ClassId(c)).loop);
  run_.plan.own = std::move(longer.programs);
  run_.streams.replace_programs(inputs_.graph, inputs_.classes, run_.plan, std::move(longer.indices));
  run_.host.replace_programs({.graph = inputs_.graph,
                              .programs = run_.plan.programs(),
                              .classes = inputs_.classes,
                              .compute = inputs_.compute,
                              .awaits_receives = options_.host_awaits_receives});
  for (std::size_t c = 0; c < near_end_.size(); ++c) {
    const std::uint32_t tasks = loops[c].size * cycles;
    run_.streams.insert_tasks(ClassId(c), loops[c].end(), tasks);
    renumber_receives(ClassId(c), loops[c].end(), tasks);
    begin_receives(ClassId(c), loops[c].end(), tasks);
  }
}

// Those from that task on are so many tasks later.
void FurtherCycles::renumber_receives(ClassId c, std::uint32_t end, std::uint32_t tasks) {
  run_.communication.messages().for_each_waiting(c, [&](MessagePlayer::Request& receive) {
    if (receive.task < end) return;
    receive.task += tasks;
    receive.sequence = run_.streams.index_of(c).occurrence[receive.task] - inputs_.graph.messages[receive.spec].lag;
    receive.not_before = receive_issued(c, receive.task);
  });
}

void FurtherCycles::begin_receives(ClassId c, std::uint32_t end, std::uint32_t tasks) {
  const Program& program = run_.streams.program_of(c);
  std::vector<ContendedCompute::Claim> claims;
  for (std::uint32_t task = end; task < end + tasks; ++task) {
    const Task& entry = program.tasks[task];
    if (!begins_with_step(entry)) continue;
    MessagePlayer::Request receive = receive_of(c, task, entry, run_.streams.index_of(c));
    receive.not_before = receive_issued(c, task);
    const bool arrived = run_.communication.messages().receive(receive);
    CHECK(!arrived, "a receive of a new cycle has met its message");
    run_.streams.of(c).tasks[task].state = TaskState::kRunning;
    if (run_.contention) claims.push_back(run_.contention->claim_of(run_.communication.job(), c, task, entry));
  }
  if (run_.contention) run_.contention->compute().insert_tasks(c, end, tasks, claims);
}

}  // namespace ringwright
