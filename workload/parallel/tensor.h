// Tensor parallelism: the communication of a layer's ranks, with sequence parallelism (gather and scatter) or without
// (all-reduce).
//
// Shoeybi et al., arXiv 1909.08053: per layer and microbatch two all-reduces of 2bsh bytes forward and two backward.
// Korthikanti et al., arXiv 2205.05198: with sequence parallelism each becomes an all-gather and a reduce-scatter, and
// the backward pass gathers the input of each column-parallel GEMM again. As in Megatron, that gather runs concurrently
// with the dgrad GEMM, and the reduction of the input's gradient runs concurrently with the wgrad GEMM. With user
// buffers (tensor_overlap.h) the other exchanges also overlap their GEMMs.
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
  // No stream of calls: tp is 1, no communication. Tiles: of kernels that are fused with their exchange, which does not
  // wait for other calls.
  struct Streams {
    std::optional<CommStream> calls;
    std::optional<CommStream> tiles;
  };
  TensorParallel(SectionTable& sections, ContextParallel& context, const Streams& streams,
                 const TensorOverlap& overlap = {});

  void embedding_forward(ProgramWriter& writer);
  void attention_forward(ProgramWriter& writer, AttentionSpan span = AttentionSpan::kAll);
  void mlp_forward(ProgramWriter& writer);
  void mamba_forward(ProgramWriter& writer);
  void delta_net_forward(ProgramWriter& writer);
  void head_forward(ProgramWriter& writer);
  void head_backward(ProgramWriter& writer);
  void mlp_backward(ProgramWriter& writer);
  void mamba_backward(ProgramWriter& writer);
  void delta_net_backward(ProgramWriter& writer);
  void attention_backward(ProgramWriter& writer, AttentionSpan span = AttentionSpan::kAll);
  void embedding_backward(ProgramWriter& writer);
  // Gathers an activation of which every rank received 1/tp.
  void gather_activation(ProgramWriter& writer);
  // Reduces the ranks' partial sums to an activation.
  void sum_activation(ProgramWriter& writer);
  // The GEMM that combines the residual stream with the next token's embedding, before a layer of multi-token
  // prediction.
  void predictor_forward(ProgramWriter& writer);
  // Of it, what is recomputed with its layer: norms and projection, not the look-up.
  void predictor_projection(ProgramWriter& writer);
  void predictor_backward(ProgramWriter& writer);
  // Sums gradients of tensors that every rank holds whole but uses for a part of the sequence.
  void reduce_replicated(ProgramWriter& writer, Bytes gradients);
  // Of tensors that are split over the ranks.
  void reduce_norms(ProgramWriter& writer, Bytes norms);

 private:
  struct Half {
    LayerSection norm, body, residual;
  };
  struct HalfBackward {
    LayerSection residual, body, dgrad, wgrad, norm;
  };
  // The gradients of a column-parallel GEMM.
  struct Column {
    LayerSection dgrad, wgrad;
    Bytes gathered;              // of the input, which every rank needs whole
    bool input_is_there = false; // gathered before
    bool sums = true;            // the input's gradient is reduced here
    std::optional<LayerSection> before_sum;
  };
  static constexpr Half kMlpHalf{LayerSection::kMlpNorm, LayerSection::kMlp, LayerSection::kMlpResidual};
  void half_forward(ProgramWriter& writer, const Half& half);
  // From its norm to its result, to which the residual is not added yet.
  void half_result(ProgramWriter& writer, const Half& half);
  // What lies between a half's norm and its residual, or the last GEMM's gradients and the first one's.
  void body(ProgramWriter& writer, LayerSection body);
  void half_backward(ProgramWriter& writer, const HalfBackward& half);
  void column_backward(ProgramWriter& writer, const Column& column);
  // Recomputation of single operators, or of the whole MLP, with the communication between them; whether the first
  // GEMM's input is whole afterwards.
  enum class Input { kSplit, kWhole };
  [[nodiscard]] Input attention_again(ProgramWriter& writer, AttentionSpan span, Input input);
  [[nodiscard]] Input mlp_again(ProgramWriter& writer);
  void gather_latent_again(ProgramWriter& writer);
  // Of Kimi Delta Attention, around the GEMMs that every rank has whole.
  void gather_narrow(ProgramWriter& writer, LayerSection body);
  void scatter_narrow(ProgramWriter& writer, LayerSection body);
  // Of sparse attention: the indexer's inputs are gathered, and what its loss compares is summed over heads.
  void gather_index_inputs(ProgramWriter& writer);
  void sum_index_target(ProgramWriter& writer);
  // Halves of a parallel block: the attention's result waits for the MLP's, and one reduction sums both. With one norm,
  // the gradients of its result wait for the attention's, too.
  void parallel_attention_forward(ProgramWriter& writer, AttentionSpan span);
  void parallel_mlp_forward(ProgramWriter& writer);
  void parallel_mlp_backward(ProgramWriter& writer);
  void parallel_attention_backward(ProgramWriter& writer, AttentionSpan span);
  [[nodiscard]] bool is_parallel_block() const { return sections_.context().shape.order != BlockOrder::kSequential; }
  [[nodiscard]] bool shares_norm() const { return sections_.context().shape.order == BlockOrder::kParallelOneNorm; }
  // The same with communication that overlaps GEMMs.
  void overlapped_result(ProgramWriter& writer, const Half& half);
  void overlapped_attention(ProgramWriter& writer, AttentionSpan span);
  void overlapped_attention_backward(ProgramWriter& writer, AttentionSpan span);
  void overlapped_body_backward(ProgramWriter& writer, LayerSection body, AttentionSpan span);
  // Weight gradients need no communication.
  [[nodiscard]] bool overlaps() const { return overlapped_ && sections_.taken() != GradientShare::kWeights; }
  void wait_for(ProgramWriter& writer, const std::vector<TaskIndex>& tasks);
  void reduce_loss(ProgramWriter& writer, LayerSection after);
  TaskIndex talk(ProgramWriter& writer, CollectiveKind kind, Bytes bytes);
  [[nodiscard]] TaskIndex gather_gradient(ProgramWriter& writer);
  TaskIndex gather(ProgramWriter& writer, Bytes bytes) { return talk(writer, CollectiveKind::kAllGather, bytes); }
  // The end of a row-parallel GEMM: every rank has a partial sum of the whole activation.
  TaskIndex sum(ProgramWriter& writer, Bytes bytes);
  // A gather for a GEMM that may use a narrower type: an output's gradient, or the input of one of these, unless an
  // adapter also uses it.
  [[nodiscard]] Bytes cast_input(LayerSection of, Bytes bytes) const;
  [[nodiscard]] Bytes as_cast(Bytes bytes) const { return scale(bytes, cast_ratio_); }
  [[nodiscard]] bool sequence_parallel() const { return sections_.context().sequence_parallel; }

  SectionTable& sections_;
  ContextParallel& context_;
  std::optional<CommStream> channel_;
  TensorOverlap overlap_;
  double cast_ratio_ = 1.0;  // of the bytes gathered for a GEMM of a layer
  std::int64_t gradient_layouts_ = 1;  // in which an output's gradient is gathered
  Bytes activation_;         // bsh values
  Bytes attention_input_;    // the same, or with latent attention the latent vectors
  Bytes loss_;               // fp32 values of the predicted tokens
  std::optional<OverlappedGemms> overlapped_;
};

}  // namespace ringwright::workload
