#include "core/run/step/task_streams.h"

#include <utility>

namespace ringwright {

TaskStreams::TaskStreams(const TaskGraph& graph, const RankClasses& classes, const PlayedPrograms& plan)
    : progress_(classes.count()) {
  std::vector<ProgramIndex> indices;
  for (const Program& program : plan.programs()) indices.push_back(index_program(graph, program));
  replace_programs(graph, classes, plan, std::move(indices));
}

void TaskStreams::replace_programs(const TaskGraph& graph, const RankClasses& classes, const PlayedPrograms& plan,
                                   std::vector<ProgramIndex> indices) {
  indices_ = std::move(indices);
  played_.clear();
  for (const RankId rank : classes.representative) {
    const std::size_t program = graph.program_of[rank.index()].index();
    played_.push_back({.program = &plan.programs()[program], .index = &indices_[program]});
  }
}

void TaskStreams::insert_tasks(ClassId c, std::uint32_t before, std::uint32_t count) {
  Progress& progress = of(c);
  const auto counts = std::span(index_of(c).dependency_count).subspan(before, count);
  progress.pending.insert(progress.pending.begin() + before, counts.begin(), counts.end());
  progress.state.insert(progress.state.begin() + before, count, TaskState::kWaiting);
  progress.unfinished += count;
}

void TaskStreams::begin_iteration(ClassId c) {
  const ProgramIndex& index = index_of(c);
  Progress& progress = of(c);
  progress.pending = index.dependency_count;
  progress.state.assign(program_of(c).tasks.size(), TaskState::kWaiting);
  progress.stream_next.assign(index.stream_tasks.size(), 0);
  progress.stream_busy.assign(index.stream_tasks.size(), false);
  progress.unfinished = program_of(c).tasks.size();
  progress.first_open = 0;
  progress.farthest = 0;
}

bool TaskStreams::take_stream(ClassId c, std::uint32_t task) {
  Progress& progress = of(c);
  const Task& entry = this->task(c, task);
  if (entry.stream != kNoStream) {
    const auto& order = index_of(c).stream_tasks[entry.stream];
    if (progress.stream_busy[entry.stream] || order[progress.stream_next[entry.stream]] != task) return false;
    progress.stream_busy[entry.stream] = true;
    ++progress.stream_next[entry.stream];
  }
  progress.state[task] = TaskState::kRunning;
  if (entry.kind != TaskKind::kReceive) progress.touched(task);
  return true;
}

}  // namespace ringwright
