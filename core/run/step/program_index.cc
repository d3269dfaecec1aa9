#include "core/run/step/program_index.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "core/base/check.h"

namespace ringwright {
namespace {

// The inverse of the dependencies.
void index_dependents(const Program& program, ProgramIndex& index) {
  const std::size_t tasks = program.tasks.size();
  index.dependency_count.resize(tasks);
  index.first_dependent.assign(tasks + 1, 0);
  const auto for_each_edge = [&program, tasks](auto&& visit) {
    for (std::uint32_t task = 0; task < tasks; ++task) {
      const Task& waiting = program.tasks[task];
      for (std::uint32_t d = 0; d < waiting.dependency_count; ++d) {
        visit(program.dependencies[waiting.first_dependency + d], task);
      }
    }
  };
  for_each_edge([&index](std::uint32_t before, std::uint32_t) { ++index.first_dependent[before + 1]; });
  for (std::size_t task = 0; task < tasks; ++task) {
    index.first_dependent[task + 1] += index.first_dependent[task];
    const std::uint32_t count = program.tasks[task].dependency_count;
    CHECK(count <= std::numeric_limits<std::uint16_t>::max(), "a task has too many dependencies");
    index.dependency_count[task] = static_cast<std::uint16_t>(count);
  }
  index.dependents.resize(index.first_dependent.back());
  std::vector<std::uint32_t> next(index.first_dependent.begin(), index.first_dependent.end() - 1);
  for_each_edge([&](std::uint32_t before, std::uint32_t after) { index.dependents[next[before]++] = after; });
}

void index_streams(const Program& program, ProgramIndex& index) {
  index.stream_tasks.resize(static_cast<std::size_t>(program.stream_count));
  for (std::uint32_t task = 0; task < program.tasks.size(); ++task) {
    const Task& entry = program.tasks[task];
    if (entry.stream != kNoStream) {
      index.stream_tasks[entry.stream].push_back(task);
    } else if (entry.dependency_count == 0) {
      index.streamless_roots.push_back(task);
    }
  }
}

bool talks_to_nobody(const Task& task) {
  return task.kind == TaskKind::kCompute || task.kind == TaskKind::kSegment;
}

void number_sequences(const TaskGraph& graph, const Program& program, ProgramIndex& index) {
  // (kind, dimension, peer, channel); peer and channel are 0 for collectives.
  using Sequence = std::tuple<TaskKind, std::uint32_t, int, std::uint8_t>;
  // A program has few of them; a linear search is faster than sorting.
  struct Counted {
    Sequence sequence;
    std::uint32_t count = 0;
  };
  std::vector<Counted> counted;
  const auto number_of = [&counted](const Sequence& sequence) {
    const auto known = std::ranges::find(counted, sequence, &Counted::sequence);
    const auto number = static_cast<std::uint32_t>(known - counted.begin());
    if (number == counted.size()) counted.push_back({.sequence = sequence});
    return number;
  };
  const auto sequence_of = [&graph](const Task& task) -> Sequence {
    if (task.kind == TaskKind::kCollective) return {task.kind, task.dimension.value, 0, std::uint8_t{0}};
    const MessageSpec& message = graph.messages[task.detail];
    return {task.kind, task.dimension.value, message.peer, message.channel};
  };
  index.occurrence.assign(program.tasks.size(), 0);
  index.period.assign(program.tasks.size(), 0);
  for (std::size_t task = 0; task < program.tasks.size(); ++task) {
    if (talks_to_nobody(program.tasks[task])) continue;
    index.period[task] = number_of(sequence_of(program.tasks[task]));
    index.occurrence[task] = counted[index.period[task]].count++;
  }
  for (std::size_t task = 0; task < program.tasks.size(); ++task) {
    if (talks_to_nobody(program.tasks[task])) continue;
    index.period[task] = counted[index.period[task]].count;
  }
}

}  // namespace

ProgramIndex index_program(const TaskGraph& graph, const Program& program) {
  ProgramIndex index;
  index_dependents(program, index);
  index_streams(program, index);
  number_sequences(graph, program, index);
  return index;
}

}  // namespace ringwright
