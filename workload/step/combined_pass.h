// A forward pass and a backward pass of different microbatches, layer by layer in turns: the tokens of one travel while
// the other computes.
//
// As Megatron-LM's overlap_moe_expert_parallel_comm (core/pipeline_parallel/combined_1f1b.py): during the exchanges of
// the backward pass the forward pass computes its attention and its experts, and the reverse. A layer without a partner
// runs alone. Both results are sent to the neighbouring stages before the head is computed and, with
// delay_wgrad_compute, before the weight gradients of the first layer's attention
// (core/models/common/model_chunk_schedule_plan.py).
#pragma once

#include <cstddef>

#include "workload/step/point_writer.h"
#include "workload/step/stage_activations.h"
#include "workload/step/stage_replicas.h"

namespace ringwright::workload {

class CombinedPass {
 public:
  struct Part {
    const ModelChunk& layers;
    int chunk = 0;
  };
  struct Stage {
    PointWriter& points;
    StageReplicas& replicas;
    StageActivations& activations;
  };
  CombinedPass(const Stage& stage, const Part& forward, const Part& backward, DataParallel::Turn turn);

  // Up to the results that other stages wait for: the chunk's activation and the gradient of its input.
  void write_results(ProgramWriter& writer);
  // What follows; the results may have been written as another pass's.
  void write_rest(ProgramWriter& writer);

 private:
  // The points of a chunk that are left for the rest.
  [[nodiscard]] std::size_t first_of_head() const;
  [[nodiscard]] std::size_t first_of_layers() const;
  // Whether the first point of the backward pass's layers has its weight gradients later.
  [[nodiscard]] bool delays_weights() const;
  // The next layer of experts of each pass; the end of its points if there is none.
  [[nodiscard]] std::size_t next_forward() const;
  [[nodiscard]] std::size_t next_backward() const;
  void pair(ProgramWriter& writer, std::size_t forward, std::size_t backward);
  void before_backward(ProgramWriter& writer, std::size_t point);
  // All that remain; the first layer's attention without its weights if these are delayed.
  void gradients_of_inputs(ProgramWriter& writer);
  // Points up to, not including, this one.
  void forward_until(ProgramWriter& writer, std::size_t end);
  void backward_until(ProgramWriter& writer, std::size_t end);

  static constexpr std::size_t kNone = ~std::size_t{0};

  Stage stage_;
  Part forward_;
  Part backward_;
  DataParallel::Turn turn_;
  std::size_t forward_at_ = 0;   // the next point
  std::size_t backward_at_ = 0;  // points that remain
};

}  // namespace ringwright::workload
