// Tensor parallelism: where the ranks of a layer talk, with sequence parallelism (gather and scatter) or without
// (all-reduce).
//
// Shoeybi et al., arXiv 1909.08053: per layer and microbatch two all-reduces of 2bsh bytes forward and two backward.
// Korthikanti et al., arXiv 2205.05198: with sequence parallelism each becomes an all-gather and a reduce-scatter, and
// the backward pass gathers the input of each column-parallel product again. As Megatron issues it: that gather runs
// beside the dgrad product, and the reduction of the input's gradient runs beside the wgrad product.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "workload/layer_kernels.h"
#include "workload/program_writer.h"

namespace ringwright::workload {

// The pieces of one context, each made once.
class PieceTable {
 public:
  PieceTable(GraphTables& tables, const KernelContext& context);
  [[nodiscard]] PieceId operator[](Piece piece);
  [[nodiscard]] PieceId add(std::vector<Kernel> kernels) { return tables_.add_piece(std::move(kernels)); }
  [[nodiscard]] const KernelContext& context() const { return context_; }

 private:
  GraphTables& tables_;
  KernelContext context_;
  std::map<Piece, PieceId> made_;
};

class TensorParallel {
 public:
  // No channel: tp is 1 and nobody talks.
  TensorParallel(PieceTable& pieces, std::optional<Channel> channel);

  void embedding_forward(ProgramWriter& writer);
  void attention_forward(ProgramWriter& writer);
  void mlp_forward(ProgramWriter& writer);
  void head_forward(ProgramWriter& writer);
  void head_backward(ProgramWriter& writer);
  void mlp_backward(ProgramWriter& writer);
  void attention_backward(ProgramWriter& writer);
  void embedding_backward(ProgramWriter& writer);
  // Completes an activation of which every rank received 1/tp.
  void gather_activation(ProgramWriter& writer);
  // Sums gradients of tensors that every rank holds whole but of which each saw a part of the sequence.
  void reduce_replicated(ProgramWriter& writer, Bytes gradients);

 private:
  struct Half {
    Piece norm, body, residual;
  };
  struct HalfBackward {
    Piece residual, body, dgrad, wgrad, norm;
  };
  void half_forward(ProgramWriter& writer, const Half& half);
  void half_backward(ProgramWriter& writer, const HalfBackward& half);
  void column_backward(ProgramWriter& writer, Piece dgrad, Piece wgrad);
  void loss_reduction(ProgramWriter& writer);
  TaskIndex talk(ProgramWriter& writer, CollectiveKind kind, Bytes bytes);
  TaskIndex gather(ProgramWriter& writer) { return talk(writer, CollectiveKind::kAllGather, activation_); }
  // The end of a row-parallel product: every rank has a summand of the whole activation.
  TaskIndex sum(ProgramWriter& writer);
  [[nodiscard]] bool sequence_parallel() const { return pieces_.context().sequence_parallel; }

  PieceTable& pieces_;
  std::optional<Channel> channel_;
  Bytes activation_;  // bsh values
  Bytes loss_;        // bs fp32 values
};

}  // namespace ringwright::workload
