// The program of one pipeline stage, which all its ranks run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "workload/parallel/context.h"
#include "workload/parallel/data.h"
#include "workload/parallel/expert.h"
#include "workload/parallel/pipeline.h"
#include "workload/parallel/tensor.h"
#include "workload/step_builder.h"
#include "workload/step_streams.h"

namespace ringwright::workload {

class StageBuilder {
 public:
  // `context_place`: which context-parallel rank, where that matters.
  StageBuilder(const StepInputs& inputs, const StepStreams& streams, PieceTable& pieces, int stage,
               int context_place = 0);

  [[nodiscard]] Program build(GraphTables& tables);
  [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }

 private:
  void begin(ProgramWriter& writer);
  void forward(ProgramWriter& writer, const Slot& slot);
  void backward(ProgramWriter& writer, const Slot& slot);
  void forward_point(ProgramWriter& writer, PointKind kind);
  void backward_point(ProgramWriter& writer, PointKind kind);
  void recompute_layer(ProgramWriter& writer, const Part& part, std::size_t point);
  // Activations that wait in host memory: of the layer that ends at this point, and of the layer before it.
  void store_activations(ProgramWriter& writer, const Part& part, std::size_t point);
  void fetch_activations(ProgramWriter& writer, const Part& part, std::size_t point);
  void finish(ProgramWriter& writer);
  [[nodiscard]] std::vector<Slot> order() const;
  [[nodiscard]] std::string name_of(char letter, const Slot& slot) const;

  const StepInputs& inputs_;
  const StepStreams& streams_;
  PieceTable& pieces_;
  int stage_;
  std::vector<Part> parts_;  // by chunk
  std::vector<Slot> slots_;
  ContextParallel context_;
  TensorParallel tensor_;
  ExpertParallel expert_;
  PipelineParallel pipeline_;
  HostTraffic host_;
  std::optional<TaskIndex> fetched_;  // activations of the layer at hand
  DataParallel data_;
  DataParallel expert_data_;
};

}  // namespace ringwright::workload
