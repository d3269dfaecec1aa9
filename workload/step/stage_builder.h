// The program of one pipeline stage, common to all its ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "workload/memory/kept_layers.h"
#include "workload/parallel/context.h"
#include "workload/parallel/data.h"
#include "workload/parallel/expert.h"
#include "workload/parallel/pipeline.h"
#include "workload/parallel/step_streams.h"
#include "workload/parallel/tensor.h"
#include "workload/step/step_builder.h"

namespace ringwright::workload {

// Passes that were written before, by everything that determines their timeline: stages with equal layers use equal
// segments. Empty for a pass without a segment.
struct WrittenPasses {
  using Layers = std::tuple<std::vector<PointKind>, bool>;  // the chunk's points, and whether it has the head
  std::map<std::tuple<Layers, Pass, ProgramWriter::CallShape>, std::optional<std::uint32_t>> segments;
};

// Labels of passes in a timeline, each made once.
class PassLabels {
 public:
  PassLabels(GraphTables& tables, int chunks) : tables_(tables), chunks_(chunks) {}
  [[nodiscard]] std::uint32_t of(const Slot& slot);

 private:
  GraphTables& tables_;
  int chunks_;
  std::vector<std::uint32_t> labels_;  // one more than the label, by microbatch, chunk and pass; 0: not made yet
};

struct Stage {
  int number = 0;
  const std::vector<Slot>& slots;
  int context_place = 0;  // index of the context-parallel rank, if relevant
  Passes passes = Passes::kAsSegments;
  WrittenPasses& written;  // by stages of the same kernels
  PassLabels& labels;
};

class StageBuilder {
 public:
  StageBuilder(const StepInputs& inputs, const StepStreams& streams, SectionTable& sections, const Stage& stage);

  [[nodiscard]] Program build(GraphTables& tables);
  [[nodiscard]] const std::vector<ModelChunk>& parts() const { return parts_; }
  // By slot: the first task of its block.
  [[nodiscard]] const std::vector<TaskIndex>& first_tasks() const { return first_tasks_; }

 private:
  void begin(ProgramWriter& writer);
  // Slots first .. last are one block.
  void block(ProgramWriter& writer, std::size_t first, std::size_t last);
  void forward(ProgramWriter& writer, const Slot& slot);
  void forward_points(ProgramWriter& writer, const Slot& slot);
  void backward(ProgramWriter& writer, std::size_t number);
  void backward_points(ProgramWriter& writer, const Slot& slot, DataParallel::Turn turn);
  // Null: this pass is the first of its kind.
  [[nodiscard]] const std::optional<std::uint32_t>* known_pass(const Slot& slot, const ProgramWriter::CallShape& shape);
  template <class Write>
  void write_pass(ProgramWriter& writer, const Slot& slot, Write&& write);
  void forward_point(ProgramWriter& writer, PointKind kind);
  void backward_point(ProgramWriter& writer, PointKind kind);
  void backward_share(ProgramWriter& writer, PointKind kind, Pass pass);
  void recompute_layers(ProgramWriter& writer, int chunk, std::size_t point);
  // Layers that can be recomputed before the gradient arrives: those whose backward pass is first.
  void recompute_ahead(ProgramWriter& writer, const Slot& slot);
  [[nodiscard]] bool goes_ahead(int chunk, std::size_t point) const;
  // Activations in host memory: of the layer that ends at this point, and of the previous layer.
  void store_activations(ProgramWriter& writer, int chunk, std::size_t point);
  void fetch_activations(ProgramWriter& writer, int chunk, std::size_t point);
  // Bytes in host memory that must be fetched before the backward pass of this point.
  [[nodiscard]] Bytes awaited(int chunk, std::size_t point) const;
  [[nodiscard]] const ModelChunk& part_of(int chunk) const { return parts_[static_cast<std::size_t>(chunk)]; }
  [[nodiscard]] const KeptLayers& kept_of(int chunk) const { return kept_[static_cast<std::size_t>(chunk)]; }
  void finish(ProgramWriter& writer);
  void apply_update(ProgramWriter& writer, std::int64_t owned);
  void reduce_copies(ProgramWriter& writer);

  const StepInputs& inputs_;
  const StepStreams& streams_;
  SectionTable& sections_;
  Stage stage_;
  std::vector<ModelChunk> parts_;                // by chunk
  std::vector<KeptLayers> kept_;           // by chunk
  std::vector<bool> reduces_;              // by slot: its backward pass ends with a reduction of gradients
  ContextParallel context_;
  TensorParallel tensor_;
  ExpertParallel expert_;
  PipelineParallel pipeline_;
  HostTraffic host_;
  std::optional<TaskIndex> fetched_;  // activations of the current layer
  DataParallel data_;
  DataParallel expert_data_;
  struct Known {
    int chunk;
    Pass pass;
    ProgramWriter::CallShape shape;
    std::optional<std::uint32_t> segment;
  };
  std::vector<TaskIndex> first_tasks_;
  std::vector<Known> known_;  // the written passes that this stage has found
};

}  // namespace ringwright::workload
