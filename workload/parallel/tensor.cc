#include "workload/parallel/tensor.h"

#include <utility>

#include "workload/attention_kernels.h"

namespace ringwright::workload {
namespace {

std::string label_of(CollectiveKind kind) {
  return "tp " + std::string(to_string(kind));
}

}  // namespace

TensorParallel::TensorParallel(PieceTable& pieces, ContextParallel& attention, std::optional<Channel> channel)
    : pieces_(pieces), context_(attention), channel_(channel) {
  const KernelContext& context = pieces.context();
  const std::int64_t tokens = context.tokens();
  const auto value_bytes = static_cast<std::int64_t>(bytes_per_element(context.training.precision));
  activation_ = Bytes(tokens * context.shape.hidden * value_bytes);
  attention_input_ = Bytes(tokens * gathered_columns(context.shape) * value_bytes);
  loss_ = Bytes(tokens * 4);
}

TaskIndex TensorParallel::talk(ProgramWriter& writer, CollectiveKind kind, Bytes bytes) {
  return writer.collective(*channel_, {.kind = kind, .bytes = bytes}, label_of(kind));
}

TaskIndex TensorParallel::sum(ProgramWriter& writer, Bytes bytes) {
  return talk(writer, sequence_parallel() ? CollectiveKind::kReduceScatter : CollectiveKind::kAllReduce, bytes);
}

void TensorParallel::half_forward(ProgramWriter& writer, const Half& half) {
  writer.compute(pieces_[half.norm]);
  if (channel_ && sequence_parallel()) writer.wait(gather(writer, activation_));
  writer.compute(pieces_[half.body]);
  if (channel_) writer.wait(sum(writer, activation_));
  writer.compute(pieces_[half.residual]);
}

void TensorParallel::column_backward(ProgramWriter& writer, Piece dgrad, Piece wgrad, Bytes gathered) {
  std::optional<TaskIndex> input;
  const bool beside = pieces_.context().async_reduce;
  if (channel_ && sequence_parallel()) input = gather(writer, gathered);
  if (input && !beside) writer.wait(*std::exchange(input, std::nullopt));
  writer.compute(pieces_[dgrad]);
  std::optional<TaskIndex> reduced;
  if (channel_) reduced = sum(writer, gathered);
  if (reduced && !beside) writer.wait(*std::exchange(reduced, std::nullopt));
  if (input) writer.wait(*input);
  writer.compute(pieces_[wgrad]);
  if (reduced) writer.wait(*reduced);
}

void TensorParallel::half_backward(ProgramWriter& writer, const HalfBackward& half) {
  writer.compute(pieces_[half.residual]);
  if (channel_ && sequence_parallel()) writer.wait(gather(writer, activation_));
  writer.compute(pieces_[half.body]);
  column_backward(writer, half.dgrad, half.wgrad, activation_);
  writer.compute(pieces_[half.norm]);
}

void TensorParallel::attention_forward(ProgramWriter& writer, AttentionReach reach) {
  writer.compute(pieces_[Piece::kAttentionNorm]);
  if (channel_ && sequence_parallel()) writer.wait(gather(writer, attention_input_));
  context_.attention_forward(writer, reach);
  if (channel_) writer.wait(sum(writer, activation_));
  writer.compute(pieces_[Piece::kAttentionResidual]);
}

void TensorParallel::mlp_forward(ProgramWriter& writer) {
  half_forward(writer, {Piece::kMlpNorm, Piece::kMlp, Piece::kMlpResidual});
}

void TensorParallel::mlp_backward(ProgramWriter& writer) {
  half_backward(writer, {Piece::kMlpResidualBackward, Piece::kMlpDownBackward, Piece::kMlpUpDgrad, Piece::kMlpUpWgrad,
                         Piece::kMlpNormBackward});
}

void TensorParallel::attention_backward(ProgramWriter& writer, AttentionReach reach) {
  writer.compute(pieces_[Piece::kAttentionResidualBackward]);
  if (channel_ && sequence_parallel()) writer.wait(gather(writer, activation_));
  context_.attention_backward(writer, reach);
  column_backward(writer, Piece::kQkvDgrad, Piece::kQkvWgrad, attention_input_);
  writer.compute(pieces_[Piece::kAttentionNormBackward]);
}

// Each rank makes a part of the columns; what follows needs all of them.
void TensorParallel::predictor_forward(ProgramWriter& writer) {
  if (sequence_parallel()) gather_activation(writer);
  writer.compute(pieces_[Piece::kPredictorInput]);
  gather_activation(writer);
}

void TensorParallel::predictor_backward(ProgramWriter& writer) {
  if (sequence_parallel()) gather_activation(writer);
  writer.compute(pieces_[Piece::kPredictorInputBackward]);
  sum_activation(writer);
}

// Each rank looks up the tokens of its part of the vocabulary; the sum of all is the embedding.
void TensorParallel::embedding_forward(ProgramWriter& writer) {
  writer.compute(pieces_[Piece::kEmbeddingGather]);
  if (channel_) writer.wait(sum(writer, activation_));
  writer.compute(pieces_[Piece::kEmbeddingFinish]);
}

void TensorParallel::embedding_backward(ProgramWriter& writer) {
  writer.compute(pieces_[Piece::kEmbeddingFinishBackward]);
  if (channel_ && sequence_parallel()) writer.wait(gather(writer, activation_));
  writer.compute(pieces_[Piece::kEmbeddingWgrad]);
}

void TensorParallel::loss_reduction(ProgramWriter& writer) {
  if (channel_) writer.wait(talk(writer, CollectiveKind::kAllReduce, loss_));
}

void TensorParallel::head_forward(ProgramWriter& writer) {
  writer.compute(pieces_[Piece::kFinalNorm]);
  if (channel_ && sequence_parallel()) writer.wait(gather(writer, activation_));
  writer.compute(pieces_[Piece::kLogits]);
  for (const Piece piece : {Piece::kLossMax, Piece::kLossTarget, Piece::kLossSum}) {
    writer.compute(pieces_[piece]);
    loss_reduction(writer);
  }
  writer.compute(pieces_[Piece::kLossFinish]);
}

void TensorParallel::head_backward(ProgramWriter& writer) {
  writer.compute(pieces_[Piece::kLossBackward]);
  column_backward(writer, Piece::kLogitsDgrad, Piece::kLogitsWgrad, activation_);
  writer.compute(pieces_[Piece::kFinalNormBackward]);
}

void TensorParallel::gather_activation(ProgramWriter& writer) {
  if (channel_) writer.wait(gather(writer, activation_));
}

void TensorParallel::sum_activation(ProgramWriter& writer) {
  if (channel_) writer.wait(sum(writer, activation_));
}

void TensorParallel::reduce_replicated(ProgramWriter& writer, Bytes gradients) {
  if (!channel_ || !sequence_parallel()) return;
  writer.wait(talk(writer, CollectiveKind::kAllReduce, gradients));
}

}  // namespace ringwright::workload
