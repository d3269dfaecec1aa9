// The longest path through a piece of a program: from the moment at which all that was issued before is done, to the
// moment at which what is issued next may begin.
//
// Pieces follow each other on the compute stream, and what the end of one waits for, the beginning of the next one
// waits for. So a program takes at least the sum of the paths of its pieces. Tasks of a communication stream run one
// after another. A task that waits for no part of the piece may have begun before it, and counts as nothing; so do
// messages, and kernels outside the compute stream.
#pragma once

#include <functional>

#include "core/base/units.h"
#include "core/plan/task_graph.h"
#include "core/ports/compute_model.h"
#include "workload/program/program_writer.h"

namespace ringwright::workload {

// Of a collective call in a dimension: a lower bound of its time once all members have joined it.
using LeastCallTime = std::function<Duration(DimensionId dimension, const CollectiveSpec& spec)>;

// References outlive this.
class PiecePath {
 public:
  // Without `calls` pieces are written without communication.
  PiecePath(GraphTables& tables, const ComputeModel& compute, const LeastCallTime& calls, int stream_count)
      : tables_(tables), compute_(compute), calls_(calls), stream_count_(stream_count) {}

  using Write = std::function<void(ProgramWriter&)>;
  [[nodiscard]] Duration of(const Write& write) const;

 private:
  [[nodiscard]] Duration time_of(const Task& task) const;
  [[nodiscard]] Duration longest(const Program& program, TaskIndex begin, TaskIndex end) const;

  GraphTables& tables_;
  const ComputeModel& compute_;
  const LeastCallTime& calls_;
  int stream_count_;
};

}  // namespace ringwright::workload
