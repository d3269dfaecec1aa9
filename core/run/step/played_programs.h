// The programs as simulated: segments passed at once or written out, with the durations of their work.
#pragma once

#include <vector>

#include "core/run/step/executor.h"

namespace ringwright {

struct PlayedPrograms {
  PlayedPrograms(const ExecutorInputs& inputs, const ExecutorOptions& options);

  bool at_once;  // segments are; otherwise there are no calls in the programs
  std::vector<Program> written_out;      // unless they are
  const std::vector<Program>& programs;  // as numbered in the graph
  std::vector<Duration> work_duration;  // by work
};

}  // namespace ringwright
