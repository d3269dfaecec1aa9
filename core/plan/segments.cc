#include "core/plan/segments.h"

#include <map>
#include <utility>

namespace ringwright {
namespace {

// Writes tasks one after another and records the new indices of the program's own ones.
class Writer {
 public:
  Writer(const TaskGraph& graph, const Program& program, TaskRange kept)
      : graph_(graph), program_(program), kept_(kept) {
    result_.name = program.name;
    result_.stream_count = program.stream_count;
    result_.job = program.job;
    result_.tasks.reserve(count_tasks(graph, program));
  }

  Program write() {
    for (const Task& task : program_.tasks) {
      const bool kept = kept_.contains(static_cast<std::uint32_t>(first_.size()));
      first_.push_back(static_cast<std::uint32_t>(result_.tasks.size()));
      if (task.kind == TaskKind::kSegment && !kept) {
        call(task, graph_.segments[task.detail]);
      } else {
        const auto first = static_cast<std::uint32_t>(result_.dependencies.size());
        for (std::uint32_t d = 0; d < task.dependency_count; ++d) result_.dependencies.push_back(dependency(task, d));
        result_.tasks.push_back(task);
        result_.tasks.back().first_dependency = first;
      }
      last_.push_back(static_cast<std::uint32_t>(result_.tasks.size() - 1));
    }
    first_.push_back(static_cast<std::uint32_t>(result_.tasks.size()));
    const Loop& loop = program_.loop;
    if (loop.cycles > 0) {
      const std::uint32_t first = first_[loop.first];
      result_.loop = {.first = first, .size = first_[loop.first + loop.size] - first, .cycles = loop.cycles};
    }
    return std::move(result_);
  }

 private:
  // The new index of the d-th dependency of one of the program's own tasks.
  [[nodiscard]] std::uint32_t dependency(const Task& task, std::uint32_t d) const {
    return last_[program_.dependencies[task.first_dependency + d]];
  }

  void call(const Task& caller, const Segment& segment) {
    const auto base = static_cast<std::uint32_t>(result_.tasks.size());
    const auto size = static_cast<std::uint32_t>(segment.tasks.size());
    for (const Task& task : segment.tasks) {
      const auto first = static_cast<std::uint32_t>(result_.dependencies.size());
      for (std::uint32_t d = 0; d < task.dependency_count; ++d) {
        const std::uint32_t before = segment.dependencies[task.first_dependency + d];
        result_.dependencies.push_back(before < size ? base + before : dependency(caller, before - size));
      }
      result_.tasks.push_back(task);
      result_.tasks.back().first_dependency = first;
      if (task.label == kCallersLabel) result_.tasks.back().label = caller.label;
    }
  }

  const TaskGraph& graph_;
  const Program& program_;
  TaskRange kept_;
  Program result_;
  std::vector<std::uint32_t> first_;  // by task of the program: index of it, or of the first one it stands for
  std::vector<std::uint32_t> last_;   // the same for the last one
};

// Indices of the program's own collectives, and the program's end.
std::vector<std::uint32_t> own_collectives(const Program& program) {
  std::vector<std::uint32_t> collectives;
  for (std::uint32_t i = 0; i < program.tasks.size(); ++i) {
    if (program.tasks[i].kind == TaskKind::kCollective) collectives.push_back(i);
  }
  collectives.push_back(static_cast<std::uint32_t>(program.tasks.size()));
  return collectives;
}

// The last task that waits for one of the program's collectives up to `last`; the task after `last` if none does.
std::uint32_t end_of_waits(const Program& program, std::uint32_t last) {
  for (std::uint32_t i = static_cast<std::uint32_t>(program.tasks.size()); i-- > last + 1;) {
    const Task& task = program.tasks[i];
    for (std::uint32_t d = 0; d < task.dependency_count; ++d) {
      const std::uint32_t before = program.dependencies[task.first_dependency + d];
      if (before <= last && program.tasks[before].kind == TaskKind::kCollective) return i;
    }
  }
  return last + 1;
}

// The longest run of tasks between two of the program's own collectives, or before the first one.
TaskRange longest_without_collectives(const Program& program) {
  TaskRange longest;
  std::optional<std::uint32_t> before;
  for (const std::uint32_t collective : own_collectives(program)) {
    const std::uint32_t first = before ? *before + 1 : 0;
    if (collective - first > longest.end - longest.first) longest = {.first = first, .end = collective};
    before = collective;
  }
  if (longest.first > 0) longest.first = std::min(end_of_waits(program, longest.first - 1), longest.end);
  const Loop& loop = program.loop;
  if (loop.size == 0) return longest;
  longest.first = std::min(longest.first, loop.first);
  return loop.end() <= longest.end ? longest : TaskRange{};
}

}  // namespace

Program write_out(const TaskGraph& graph, const Program& program, TaskRange kept) {
  return Writer(graph, program, kept).write();
}

std::vector<Program> write_out_programs(const TaskGraph& graph) {
  std::vector<Program> programs;
  programs.reserve(graph.programs.size());
  for (const Program& program : graph.programs) programs.push_back(write_out(graph, program));
  return programs;
}

TaskGraph written_out_for(const TaskGraph& graph, const std::vector<bool>& ranks) {
  TaskGraph result = graph;
  result.layouts = graph.layouts.borrowed();
  std::map<ProgramId, ProgramId> written;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (!ranks[rank]) continue;
    const ProgramId program = graph.program_of[rank];
    const auto [entry, is_new] = written.try_emplace(program, result.programs.size());
    if (is_new) result.programs.push_back(write_out(graph, graph.programs[program.index()]));
    result.program_of[rank] = entry->second;
  }
  return result;
}

std::optional<TaskGraph> written_out_around_collectives(const TaskGraph& graph) {
  std::vector<Program> programs;
  for (const Program& program : graph.programs) {
    const TaskRange kept = longest_without_collectives(program);
    if (kept.end - kept.first < program.tasks.size() / 2) return std::nullopt;
    programs.push_back(write_out(graph, program, kept));
  }
  TaskGraph result = graph;
  result.layouts = graph.layouts.borrowed();
  result.programs = std::move(programs);
  return result;
}

std::vector<std::uint32_t> count_calls(const TaskGraph& graph, const Program& program) {
  std::vector<std::uint32_t> calls(graph.segments.size(), 0);
  const TaskRange repeated = repeated_tasks(graph, program);
  for (const Task& task : program.tasks) {
    if (task.kind == TaskKind::kSegment) ++calls[task.detail];
  }
  for (std::uint32_t i = repeated.first; i < repeated.end; ++i) {
    const Task& task = program.tasks[i];
    if (task.kind == TaskKind::kSegment) calls[task.detail] += graph.cycles_left_out;
  }
  return calls;
}

std::uint64_t count_tasks(const TaskGraph& graph, const Program& program) {
  std::uint64_t tasks = 0;
  for (const Task& task : program.tasks) {
    tasks += task.kind == TaskKind::kSegment ? graph.segments[task.detail].tasks.size() : 1;
  }
  return tasks;
}

}  // namespace ringwright
