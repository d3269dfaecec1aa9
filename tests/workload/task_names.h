// A program as text: the label of each task, and the tasks it waits for.
#pragma once

#include <string>
#include <vector>

#include "core/plan/task_graph.h"

namespace ringwright::workload {

inline std::vector<std::string> task_names(const TaskGraph& graph, const Program& program) {
  std::vector<std::string> names;
  for (const Task& task : program.tasks) names.push_back(graph.labels[task.label]);
  return names;
}

// Names of the kernels of a computation.
inline std::vector<std::string> kernel_names(const TaskGraph& graph, const Task& task) {
  std::vector<std::string> names;
  for (const Kernel& kernel : graph.works[task.detail].kernels) names.push_back(kernel.name);
  return names;
}

inline bool waits_for(const Program& program, std::size_t task, std::size_t other) {
  const auto first = program.dependencies.begin() + program.tasks[task].first_dependency;
  for (std::uint32_t d = 0; d < program.tasks[task].dependency_count; ++d) {
    if (first[d] == other) return true;
  }
  return false;
}

}  // namespace ringwright::workload
