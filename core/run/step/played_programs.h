// The programs as simulated: segments passed at once or written out, with their indices and durations.
#pragma once

#include <vector>

#include "core/run/step/executor.h"
#include "core/run/step/program_index.h"

namespace ringwright {

struct PlayedPrograms {
  PlayedPrograms(const ExecutorInputs& inputs, const ExecutorOptions& options);

  bool at_once;  // segments are; otherwise there are no calls in the programs
  std::vector<Program> written_out;      // unless they are
  const std::vector<Program>& programs;  // as numbered in the graph
  std::vector<ProgramIndex> indices;    // by program
  std::vector<Duration> work_duration;  // by work
};

}  // namespace ringwright
