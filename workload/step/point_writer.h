// Writes the passes through the points of a stage (embedding, attention, MLP, experts, head) as context, tensor and
// expert parallelism divide them.
#pragma once

#include "workload/layout/stage_chunks.h"
#include "workload/parallel/context.h"
#include "workload/parallel/expert.h"
#include "workload/parallel/step_streams.h"
#include "workload/parallel/tensor.h"
#include "workload/pipeline/schedule.h"

namespace ringwright::workload {

// Members refer to each other: not movable.
class PointWriter {
 public:
  // `context_place`: index of the context-parallel rank, if relevant.
  PointWriter(SectionTable& sections, const ParallelOptions& parallel, const StepStreams& streams, int context_place);
  PointWriter(const PointWriter&) = delete;
  PointWriter& operator=(const PointWriter&) = delete;

  void forward(ProgramWriter& writer, PointKind kind);
  void backward(ProgramWriter& writer, PointKind kind, Pass pass);
  [[nodiscard]] TensorParallel& tensor() { return tensor_; }
  [[nodiscard]] ExpertParallel& expert() { return expert_; }
  [[nodiscard]] SectionTable& sections() { return sections_; }
  [[nodiscard]] const KernelContext& context() const { return sections_.context(); }

 private:
  void backward_whole(ProgramWriter& writer, PointKind kind);

  SectionTable& sections_;
  ContextParallel context_;
  TensorParallel tensor_;
  ExpertParallel expert_;
};

}  // namespace ringwright::workload
