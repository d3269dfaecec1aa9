// Tensor parallelism: where the ranks of a layer talk, with sequence parallelism (gather and scatter) or without
// (all-reduce).
//
// Shoeybi et al., arXiv 1909.08053: per layer and microbatch two all-reduces of 2bsh bytes forward and two backward.
// Korthikanti et al., arXiv 2205.05198: with sequence parallelism each becomes an all-gather and a reduce-scatter, and
// the backward pass gathers the input of each column-parallel product again. As Megatron issues it: that gather runs
// beside the dgrad product, and the reduction of the input's gradient runs beside the wgrad product. With user buffers
// (tensor_overlap.h) the other exchanges run beside their products, too.
#pragma once

#include <optional>
#include <string>

#include "workload/parallel/context.h"
#include "workload/parallel/overlapped_gemms.h"
#include "workload/parallel/sections.h"
#include "workload/program/program_writer.h"

namespace ringwright::workload {

class TensorParallel {
 public:
  // No channel: tp is 1 and nobody talks.
  TensorParallel(SectionTable& sections, ContextParallel& context, std::optional<CommStream> channel,
                 const TensorOverlap& overlap = {});

  void embedding_forward(ProgramWriter& writer);
  void attention_forward(ProgramWriter& writer, AttentionSpan span = AttentionSpan::kAll);
  void mlp_forward(ProgramWriter& writer);
  void head_forward(ProgramWriter& writer);
  void head_backward(ProgramWriter& writer);
  void mlp_backward(ProgramWriter& writer);
  void attention_backward(ProgramWriter& writer, AttentionSpan span = AttentionSpan::kAll);
  void embedding_backward(ProgramWriter& writer);
  // Completes an activation of which every rank received 1/tp.
  void gather_activation(ProgramWriter& writer);
  // Makes an activation of the summands that every rank has.
  void sum_activation(ProgramWriter& writer);
  // The product that joins the residual stream with the next token's embedding, before a layer that predicts.
  void predictor_forward(ProgramWriter& writer);
  void predictor_backward(ProgramWriter& writer);
  // Sums gradients of tensors that every rank holds whole but of which each saw a part of the sequence.
  void reduce_replicated(ProgramWriter& writer, Bytes gradients);
  // Of tensors of which every rank holds a part.
  void reduce_norms(ProgramWriter& writer, Bytes norms);

 private:
  struct Half {
    LayerSection norm, body, residual;
  };
  struct HalfBackward {
    LayerSection residual, body, dgrad, wgrad, norm;
  };
  void half_forward(ProgramWriter& writer, const Half& half);
  void half_backward(ProgramWriter& writer, const HalfBackward& half);
  // Of `gathered` bytes is the input that every rank needs whole.
  void column_backward(ProgramWriter& writer, LayerSection dgrad, LayerSection wgrad, Bytes gathered);
  // The same with exchanges beside products.
  void overlapped_forward(ProgramWriter& writer, const Half& half);
  void overlapped_attention(ProgramWriter& writer, AttentionSpan span);
  void overlapped_attention_backward(ProgramWriter& writer, AttentionSpan span);
  void overlapped_body_backward(ProgramWriter& writer, LayerSection body, AttentionSpan span);
  // Gradients of weights exchange nothing.
  [[nodiscard]] bool overlaps() const { return overlapped_ && sections_.taken() != GradientShare::kWeights; }
  void wait_for(ProgramWriter& writer, const std::vector<TaskIndex>& tasks);
  void loss_reduction(ProgramWriter& writer);
  TaskIndex talk(ProgramWriter& writer, CollectiveKind kind, Bytes bytes);
  TaskIndex gather(ProgramWriter& writer, Bytes bytes) { return talk(writer, CollectiveKind::kAllGather, bytes); }
  // The end of a row-parallel product: every rank has a summand of the whole activation.
  TaskIndex sum(ProgramWriter& writer, Bytes bytes);
  // What is gathered for a product that may take it in narrower values: an output's gradient, or the input of one of
  // these, where no adapter takes it, too.
  [[nodiscard]] Bytes cast_input(LayerSection of, Bytes bytes) const;
  [[nodiscard]] Bytes as_cast(Bytes bytes) const { return scale(bytes, cast_ratio_); }
  [[nodiscard]] bool sequence_parallel() const { return sections_.context().sequence_parallel; }

  SectionTable& sections_;
  ContextParallel& context_;
  std::optional<CommStream> channel_;
  TensorOverlap overlap_;
  double cast_ratio_ = 1.0;  // of the bytes of what is gathered for a product of a layer
  Bytes activation_;         // bsh values
  Bytes attention_input_;    // the same, or with latent attention the latent vectors
  Bytes loss_;               // bs fp32 values
  std::optional<OverlappedGemms> overlapped_;
};

}  // namespace ringwright::workload
