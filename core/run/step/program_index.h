// The index of a program for the executor, computed once: dependents of a task, the order on each stream, and the
// sequence number of each collective and message.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/plan/task_graph.h"

namespace ringwright {

struct ProgramIndex {
  std::vector<std::uint16_t> dependency_count;  // by task
  std::vector<std::uint32_t> first_dependent;   // by task, and one past the end
  std::vector<std::uint32_t> dependents;
  std::vector<std::vector<std::uint32_t>> stream_tasks;  // by stream: its tasks in order
  std::vector<std::uint32_t> streamless_roots;           // tasks on no stream without dependencies
  // A collective's position among the program's collectives of its dimension; a message's position among the program's
  // sends (receives) of its dimension, peer and channel; and their total count, so that the number in iteration i is i
  // * period + occurrence.
  std::vector<std::uint32_t> occurrence;  // by task
  std::vector<std::uint32_t> period;      // by task

  [[nodiscard]] std::span<const std::uint32_t> dependents_of(std::uint32_t task) const {
    return std::span(dependents).subspan(first_dependent[task], first_dependent[task + 1] - first_dependent[task]);
  }
};

[[nodiscard]] ProgramIndex index_program(const TaskGraph& graph, const Program& program);

}  // namespace ringwright
