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
  programs_.clear();
  for (const Program& program : plan.programs()) programs_.push_back(&program);
  number_of_.clear();
  for (const RankId rank : classes.representative) number_of_.push_back(graph.program_of[rank.index()].value);
}

void TaskStreams::insert_tasks(ClassId c, std::uint32_t before, std::uint32_t count) {
  Progress& progress = of(c);
  const auto counts = std::span(index_of(c).dependency_count).subspan(before, count);
  const auto first = progress.tasks.insert(progress.tasks.begin() + before, count, {});
  for (std::size_t task = 0; task < count; ++task) first[static_cast<std::ptrdiff_t>(task)].pending = counts[task];
  progress.unfinished += count;
}

void TaskStreams::begin_iteration(ClassId c) {
  const ProgramIndex& index = index_of(c);
  Progress& progress = of(c);
  progress.tasks.clear();
  for (const std::uint16_t count : index.dependency_count) progress.tasks.push_back({.pending = count});
  progress.streams.assign(index.stream_tasks.size(), {});
  progress.unfinished = static_cast<std::uint32_t>(program_of(c).tasks.size());
  progress.first_open = 0;
  progress.farthest = 0;
}

bool TaskStreams::take_stream(ClassId c, std::uint32_t task) {
  Progress& progress = of(c);
  const Task& entry = this->task(c, task);
  if (entry.stream != kNoStream) {
    const auto& order = index_of(c).stream_tasks[entry.stream];
    StreamProgress& stream = progress.streams[entry.stream];
    if (stream.busy || order[stream.next] != task) return false;
    stream.busy = 1;
    ++stream.next;
  }
  progress.tasks[task].state = TaskState::kRunning;
  if (entry.kind != TaskKind::kReceive) progress.touched(task);
  return true;
}

}  // namespace ringwright
