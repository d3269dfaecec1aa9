// The program of one pipeline stage, which all its ranks run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "workload/kept_layers.h"
#include "workload/parallel/context.h"
#include "workload/parallel/data.h"
#include "workload/parallel/expert.h"
#include "workload/parallel/pipeline.h"
#include "workload/parallel/tensor.h"
#include "workload/step_builder.h"
#include "workload/step_streams.h"

namespace ringwright::workload {

struct Stage {
  int number = 0;
  const std::vector<Slot>& slots;
  int context_place = 0;  // which context-parallel rank, where that matters
  Passes passes = Passes::kAsSegments;
};

class StageBuilder {
 public:
  StageBuilder(const StepInputs& inputs, const StepStreams& streams, PieceTable& pieces, const Stage& stage);

  [[nodiscard]] Program build(GraphTables& tables);
  [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }

 private:
  void begin(ProgramWriter& writer);
  // Slots first .. last are one block.
  void block(ProgramWriter& writer, std::size_t first, std::size_t last);
  void forward(ProgramWriter& writer, const Slot& slot);
  void forward_points(ProgramWriter& writer, const Slot& slot);
  void backward(ProgramWriter& writer, std::size_t number);
  void backward_points(ProgramWriter& writer, const Slot& slot, DataParallel::Turn turn);
  template <class Write>
  void write_pass(ProgramWriter& writer, const Slot& slot, Write&& write);
  void forward_point(ProgramWriter& writer, PointKind kind);
  void backward_point(ProgramWriter& writer, PointKind kind);
  void backward_share(ProgramWriter& writer, PointKind kind, Pass pass);
  void recompute_layers(ProgramWriter& writer, int chunk, std::size_t point);
  // What can be computed again before the gradient has come in: the layers whose backward pass is first.
  void recompute_ahead(ProgramWriter& writer, const Slot& slot);
  [[nodiscard]] bool goes_ahead(int chunk, std::size_t point) const;
  // Activations that wait in host memory: of the layer that ends at this point, and of the layer before it.
  void store_activations(ProgramWriter& writer, int chunk, std::size_t point);
  void fetch_activations(ProgramWriter& writer, int chunk, std::size_t point);
  // Bytes in host memory that must be back before the backward pass of this point.
  [[nodiscard]] Bytes awaited(int chunk, std::size_t point) const;
  [[nodiscard]] const Part& part_of(int chunk) const { return parts_[static_cast<std::size_t>(chunk)]; }
  [[nodiscard]] const KeptLayers& kept_of(int chunk) const { return kept_[static_cast<std::size_t>(chunk)]; }
  void finish(ProgramWriter& writer);
  void reduce_copies(ProgramWriter& writer);

  const StepInputs& inputs_;
  const StepStreams& streams_;
  PieceTable& pieces_;
  Stage stage_;
  std::vector<Part> parts_;                // by chunk
  std::vector<KeptLayers> kept_;           // by chunk
  std::vector<std::size_t> last_weights_;  // by chunk: the slot after which its gradients are complete
  ContextParallel context_;
  TensorParallel tensor_;
  ExpertParallel expert_;
  PipelineParallel pipeline_;
  HostTraffic host_;
  std::optional<TaskIndex> fetched_;  // activations of the layer at hand
  DataParallel data_;
  DataParallel expert_data_;
  // Passes that were written before: the segment, or nothing where they make none.
  std::map<std::tuple<int, Pass, ProgramWriter::CallShape>, std::optional<std::uint32_t>> segments_;
};

}  // namespace ringwright::workload
