// Tensor parallelism of parallel blocks, x + attention(norm(x)) + mlp(norm(x)): one reduction a pass where layers of
// two halves in sequence have two.
//
// Wang and Komatsuzaki, GPT-J-6B (2021); Chowdhery et al., PaLM, arXiv 2204.02311, section 2: both halves read the same
// norm, so that their partial results are added on each rank before they are reduced. With sequence parallelism the
// norm's result and the gradient of the block's result are gathered once instead of twice (Jiang et al., MegaScale,
// arXiv 2402.15627, section 3.1). With two norms (GPT-NeoX) each half gathers its own input and reduces its own
// gradient; the result is still reduced once.
#include "workload/parallel/tensor.h"

namespace ringwright::workload {

// The attention's projection stays on its rank.
void TensorParallel::parallel_attention_forward(ProgramWriter& writer, AttentionSpan span) {
  using enum OverlappedGemms::Input;
  const Bytes input = cast_input(LayerSection::kAttention, attention_input_);
  writer.compute(sections_[LayerSection::kAttentionNorm]);
  if (!overlaps() || !overlap_.gather) {
    if (channel_ && sequence_parallel()) writer.wait(gather(writer, input));
    return context_.attention_forward(writer, span);
  }
  if (!context_.talks()) {
    return wait_for(writer, overlapped_->run(writer, LayerSection::kAttention, span, {.input = kGathered}));
  }
  wait_for(writer, overlapped_->run(writer, LayerSection::kQkv, span, {.input = kGathered}));
  context_.core_forward(writer, span);
  writer.compute(sections_[LayerSection::kProjection]);
}

// A GEMM whose tiles leave as they are done adds them onto the attention's result, without a kernel for the sum.
void TensorParallel::parallel_mlp_forward(ProgramWriter& writer) {
  using enum OverlappedGemms::Input;
  using enum OverlappedGemms::Result;
  const bool gathers = !shares_norm() && channel_ && sequence_parallel();
  const bool in_parts = overlaps() && overlap_.gather && gathers;
  if (!shares_norm()) writer.compute(sections_[LayerSection::kMlpNorm]);
  if (gathers && !in_parts) writer.wait(gather(writer, cast_input(LayerSection::kMlp, activation_)));
  if (overlaps()) {
    wait_for(writer, overlapped_->run(writer, LayerSection::kMlp, AttentionSpan::kAll,
                                      {.input = in_parts ? kGathered : kThere,
                                       .result = overlap_.scatter ? kScattered : kStays}));
  } else {
    sections_.write(writer, LayerSection::kMlp);
  }
  if (!overlaps() || !overlap_.scatter) {
    writer.compute(sections_[LayerSection::kHalvesSum]);
    sum_activation(writer);
  }
  writer.compute(sections_[LayerSection::kMlpResidual]);
}

// The gradient of the block's result is gathered here, and is there for the attention.
void TensorParallel::parallel_mlp_backward(ProgramWriter& writer) {
  writer.compute(sections_[LayerSection::kMlpResidualBackward]);
  const Input input = mlp_again(writer);
  if (overlaps()) {
    overlapped_body_backward(writer, LayerSection::kMlpDownBackward, AttentionSpan::kAll);
  } else {
    if (channel_ && sequence_parallel()) writer.wait(gather_gradient(writer));
    sections_.write(writer, LayerSection::kMlpDownBackward);
  }
  column_backward(writer, {.dgrad = LayerSection::kMlpUpDgrad,
                           .wgrad = LayerSection::kMlpUpWgrad,
                           .gathered = activation_,
                           .input_is_there = input == Input::kWhole,
                           .sums = !shares_norm()});
  if (!shares_norm()) writer.compute(sections_[LayerSection::kMlpNormBackward]);
}

void TensorParallel::parallel_attention_backward(ProgramWriter& writer, AttentionSpan span) {
  // With one norm the MLP gathered it.
  const Input input = attention_again(writer, span, shares_norm() ? Input::kWhole : Input::kSplit);
  context_.attention_backward(writer, span);
  Column column{.dgrad = LayerSection::kQkvDgrad, .wgrad = LayerSection::kQkvWgrad, .gathered = attention_input_};
  column.input_is_there = input == Input::kWhole;
  if (shares_norm()) {
    column.before_sum = LayerSection::kHalvesSumBackward;
  }
  column_backward(writer, column);
  writer.compute(sections_[LayerSection::kAttentionNormBackward]);
}

}  // namespace ringwright::workload
