// Segments of programs: expanding, counting and visiting them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/plan/task_graph.h"

namespace ringwright {

// Tasks of a program from the first one up to, and without, the end.
struct TaskRange {
  std::uint32_t first = 0;
  std::uint32_t end = 0;
  [[nodiscard]] bool contains(std::uint32_t task) const { return task >= first && task < end; }
};

// The same program without calls outside of `kept`: every segment's tasks replace the call. Cycles that are left out
// stay left out. `kept` holds all of the program's loop, or nothing of it.
[[nodiscard]] Program write_out(const TaskGraph& graph, const Program& program, TaskRange kept = {});
[[nodiscard]] std::vector<Program> write_out_programs(const TaskGraph& graph);
// The same graph, in which these ranks (true, by rank) have such programs. Layouts are borrowed.
[[nodiscard]] TaskGraph written_out_for(const TaskGraph& graph, const std::vector<bool>& ranks);
// The same graph, in which programs keep calls only while none of their own collectives is in flight, as far as their
// order shows: from the task on that waits for the last of the first ones (parameters are gathered) until the next one
// begins (gradients are reduced), where most calls are. Layouts are borrowed. Empty: in some program there is no such
// time, as where collectives are spread over all of it.
[[nodiscard]] std::optional<TaskGraph> written_out_around_collectives(const TaskGraph& graph);

// How often the program calls each segment of the graph, in cycles that are left out as well.
[[nodiscard]] std::vector<std::uint32_t> count_calls(const TaskGraph& graph, const Program& program);

// How many tasks the program has when it is written out.
[[nodiscard]] std::uint64_t count_tasks(const TaskGraph& graph, const Program& program);

// The tasks of the loop's first cycle, where each also stands for those of cycles that are left out; else none.
[[nodiscard]] inline TaskRange repeated_tasks(const TaskGraph& graph, const Program& program) {
  if (graph.cycles_left_out == 0) return {};
  return {.first = program.loop.first, .end = program.loop.first + program.loop.size};
}

// Calls visit(task, times) for every task that is not a call: the program's own, each with the number of tasks it
// stands for; then those of each called segment with the number of calls.
template <class Visit>
void visit_tasks(const TaskGraph& graph, const Program& program, Visit&& visit) {
  std::vector<std::uint32_t> calls(graph.segments.size(), 0);
  const auto visit_all = [&](std::size_t first, std::size_t end, std::uint32_t times) {
    for (const Task& task : std::span(program.tasks).subspan(first, end - first)) {
      if (task.kind == TaskKind::kSegment) {
        calls[task.detail] += times;
      } else {
        visit(task, times);
      }
    }
  };
  const TaskRange repeated = repeated_tasks(graph, program);
  visit_all(0, repeated.first, 1);
  visit_all(repeated.first, repeated.end, 1 + graph.cycles_left_out);
  visit_all(repeated.end, program.tasks.size(), 1);
  for (std::size_t segment = 0; segment < calls.size(); ++segment) {
    if (calls[segment] == 0) continue;
    for (const Task& task : graph.segments[segment].tasks) visit(task, calls[segment]);
  }
}

// Calls visit(task) for every different communication of the program, its segments included: by kind, dimension and
// detail, in the order of their first tasks.
template <class Visit>
void visit_communications(const TaskGraph& graph, const Program& program, Visit&& visit) {
  constexpr std::size_t kKinds = static_cast<std::size_t>(TaskKind::kSegment);
  const std::size_t dimensions = graph.dimensions.size();
  const std::size_t details = std::max(graph.collectives.size(), graph.messages.size());
  std::vector<std::uint8_t> seen(kKinds * dimensions * details, 0);  // bytes: most looks are at what was seen
  const auto look_at = [&](const Task& task) {
    const std::size_t kind = static_cast<std::size_t>(task.kind);
    std::uint8_t& known = seen[(kind * dimensions + task.dimension.index()) * details + task.detail];
    if (known == 0) visit(task);
    known = 1;
  };
  std::vector<std::uint8_t> called(graph.segments.size(), 0);
  for (const Task& task : program.tasks) {
    if (task.kind == TaskKind::kCompute) continue;
    if (task.kind != TaskKind::kSegment) {
      look_at(task);
      continue;
    }
    if (std::exchange(called[task.detail], 1) != 0) continue;
    for (const Task& within : graph.segments[task.detail].tasks) {
      if (within.kind != TaskKind::kCompute && within.kind != TaskKind::kSegment) look_at(within);
    }
  }
}

}  // namespace ringwright
