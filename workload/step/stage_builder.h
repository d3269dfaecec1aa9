// The program of one pipeline stage, common to all its ranks that exchange the same with other stages.
#pragma once

#include <cstddef>
#include <vector>

#include "workload/parallel/data.h"
#include "workload/parallel/offload.h"
#include "workload/parallel/pipeline.h"
#include "workload/parallel/step_streams.h"
#include "workload/step/pass_labels.h"
#include "workload/step/pass_segments.h"
#include "workload/step/point_writer.h"
#include "workload/step/stage_activations.h"
#include "workload/step/stage_replicas.h"
#include "workload/step/step_builder.h"

namespace ringwright::workload {

struct Stage {
  int number = 0;
  const std::vector<Slot>& slots;
  int context_place = 0;  // index of the context-parallel rank, if relevant
  Passes passes = Passes::kAsSegments;
  WrittenPasses& written;  // by stages of the same kernels
  PassLabels& labels;
  const PipelineEnds* ends = nullptr;  // of ranks whose neighbouring stages have other meshes
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
  // Into the type of GEMMs in fp8 and fp4, once for all microbatches.
  void cast_weights(ProgramWriter& writer);
  // Slots first .. last are one block.
  void block(ProgramWriter& writer, std::size_t first, std::size_t last);
  // A forward pass and the backward pass that is joined to it, in turns.
  [[nodiscard]] bool combines(std::size_t first, std::size_t last) const;
  void combined(ProgramWriter& writer, const Slot& forward, std::size_t backward);
  void forward(ProgramWriter& writer, const Slot& slot);
  void forward_points(ProgramWriter& writer, const Slot& slot);
  void backward(ProgramWriter& writer, std::size_t number);
  void backward_points(ProgramWriter& writer, const Slot& slot, DataParallel::Turn turn);
  void recompute_layers(ProgramWriter& writer, int chunk, std::size_t point);
  // Layers that can be recomputed before the gradient arrives: those whose backward pass is first.
  void recompute_ahead(ProgramWriter& writer, const Slot& slot);
  [[nodiscard]] bool goes_ahead(int chunk, std::size_t point) const;
  [[nodiscard]] const ModelChunk& part_of(int chunk) const { return parts_[static_cast<std::size_t>(chunk)]; }
  [[nodiscard]] const KeptLayers& kept_of(int chunk) const { return activations_.kept_of(chunk); }
  void finish(ProgramWriter& writer);
  void apply_update(ProgramWriter& writer, std::int64_t owned);
  void reduce_copies(ProgramWriter& writer);
  [[nodiscard]] std::int64_t gradient_shares() const;

  const StepInputs& inputs_;
  const StepStreams& streams_;
  Stage stage_;
  std::vector<ModelChunk> parts_;  // by chunk
  std::vector<bool> reduces_;      // by slot: its backward pass ends with a reduction of gradients
  PointWriter points_;
  PipelineParallel pipeline_;
  HostTraffic host_;
  StageActivations activations_;
  StageReplicas replicas_;
  PassSegments segments_;
  std::vector<TaskIndex> first_tasks_;
};

}  // namespace ringwright::workload
