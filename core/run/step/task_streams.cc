#include "core/run/step/task_streams.h"

namespace ringwright {

TaskStreams::TaskStreams(const TaskGraph& graph, const RankClasses& classes, const PlayedPrograms& plan)
    : plan_(plan), progress_(classes.count()) {
  for (const RankId rank : classes.representative) program_of_.push_back(graph.program_of[rank.index()].index());
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

bool TaskStreams::take(ClassId c, std::uint32_t task) {
  Progress& progress = of(c);
  if (progress.pending[task] > 0 || progress.state[task] != TaskState::kWaiting) return false;
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

bool TaskStreams::end(ClassId c, std::uint32_t task) {
  Progress& progress = of(c);
  progress.done(task);
  return --progress.unfinished == 0;
}

}  // namespace ringwright
