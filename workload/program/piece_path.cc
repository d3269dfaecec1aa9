#include "workload/program/piece_path.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

namespace ringwright::workload {

// A call on a stream of its own marks the beginning: what is issued next waits for it. A second one marks the end: it
// waits for all that the next task of the compute stream would wait for.
Duration PiecePath::of(const Write& write) const {
  const CommStream marks{.dimension = DimensionId(0), .stream = static_cast<StreamIndex>(stream_count_)};
  ProgramWriter writer(tables_, "piece");
  const TaskIndex begin = writer.collective(marks, {}, "begin");
  writer.wait(begin);
  if (!calls_) writer.mute(Communication::kOff);
  write(writer);
  writer.mute(Communication::kOn);
  const TaskIndex end = writer.collective(marks, {}, "end");
  return longest(writer.finish(stream_count_ + 1), begin, end);
}

Duration PiecePath::time_of(const Task& task) const {
  if (task.kind == TaskKind::kCompute && task.stream == kComputeStream) {
    return duration(compute_, tables_.work_at(task.detail));
  }
  if (task.kind == TaskKind::kCollective) return calls_(task.dimension, tables_.collective_at(task.detail));
  return {};
}

Duration PiecePath::longest(const Program& program, TaskIndex begin, TaskIndex end) const {
  std::vector<std::optional<Duration>> ended(program.tasks.size());  // none: perhaps before the piece
  std::vector<std::optional<TaskIndex>> last_on(static_cast<std::size_t>(stream_count_));
  ended[begin] = Duration();
  for (TaskIndex number = begin + 1; number <= end; ++number) {
    const Task& task = program.tasks[number];
    std::optional<Duration> ready;
    for (std::uint32_t d = 0; d < task.dependency_count; ++d) {
      ready = std::max(ready, ended[program.dependencies[task.first_dependency + d]]);
    }
    if (number == end) return ready.value_or(Duration());
    if (task.stream != kNoStream) {
      std::optional<TaskIndex>& last = last_on[task.stream];
      if (last) ready = std::max(ready, ended[*last]);
      last = number;
    }
    if (ready) ended[number] = *ready + time_of(task);
  }
  return {};
}

}  // namespace ringwright::workload
