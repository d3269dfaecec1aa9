// The programs as simulated: segments passed at once or written out, with the durations of their work.
#pragma once

#include <vector>

#include "core/run/step/executor.h"

namespace ringwright {

struct PlayedPrograms {
  PlayedPrograms(const ExecutorInputs& inputs, const ExecutorOptions& options);

  // As numbered in the graph.
  [[nodiscard]] const std::vector<Program>& programs() const { return own.empty() ? of_graph : own; }

  bool at_once;  // segments are; otherwise there are no calls in the programs
  const std::vector<Program>& of_graph;
  std::vector<Program> own;             // written out, or with further cycles; none: those of the graph
  std::vector<Duration> work_duration;  // by work
};

}  // namespace ringwright
