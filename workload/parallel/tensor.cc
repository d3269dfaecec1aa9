#include "workload/parallel/tensor.h"

#include <utility>

#include "workload/kernels/attention_kernels.h"
#include "workload/kernels/kernel_maker.h"

namespace ringwright::workload {
namespace {

std::string label_of(CollectiveKind kind) {
  return "tp " + std::string(to_string(kind));
}

// Bytes of a gathered value for each byte of the working type: block scales travel with their values.
double cast_ratio(const TrainingOptions& training) {
  return (bytes_per_element(training.gemm_type()) + scale_bytes(training.narrow)) /
         bytes_per_element(training.precision);
}

}  // namespace

TensorParallel::TensorParallel(SectionTable& sections, ContextParallel& attention, const Streams& streams,
                               const TensorOverlap& overlap)
    : sections_(sections), context_(attention), channel_(streams.calls), overlap_(overlap) {
  const KernelContext& context = sections.context();
  const std::int64_t tokens = context.tokens();
  const auto value_bytes = static_cast<std::int64_t>(bytes_per_element(context.training.precision));
  activation_ = Bytes(tokens * context.shape.hidden * value_bytes);
  attention_input_ = Bytes(tokens * gathered_columns(context.shape) * value_bytes);
  loss_ = Bytes(context.training.predicted_of(tokens) * 4);
  if (context.training.narrow_gather && sequence_parallel()) {
    cast_ratio_ = cast_ratio(context.training);
    gradient_layouts_ = has_block_scales(context.training.narrow) ? 2 : 1;
  }
  if (!overlap.on || !channel_ || !sequence_parallel()) return;
  overlapped_.emplace(sections, streams.tiles.value_or(*channel_), overlap,
                      OverlappedGemms::Sizes{.gathered = as_cast(activation_), .scattered = activation_});
}

TaskIndex TensorParallel::talk(ProgramWriter& writer, CollectiveKind kind, Bytes bytes) {
  return writer.collective(*channel_, {.kind = kind, .bytes = bytes}, label_of(kind));
}

// Of an output. Values with block scales are gathered in both layouts, along rows for the input's gradient and along
// columns for the weight's (Transformer Engine, distributed.py: _all_gather_mxfp8); others are transposed afterwards.
TaskIndex TensorParallel::gather_gradient(ProgramWriter& writer) {
  return gather(writer, as_cast(activation_) * gradient_layouts_);
}

TaskIndex TensorParallel::sum(ProgramWriter& writer, Bytes bytes) {
  return talk(writer, sequence_parallel() ? CollectiveKind::kReduceScatter : CollectiveKind::kAllReduce, bytes);
}

Bytes TensorParallel::cast_input(LayerSection of, Bytes bytes) const {
  const auto& adapters = sections_.context().shape.adapters;
  const bool of_attention = of == LayerSection::kAttention || of == LayerSection::kQkvDgrad;
  const bool adapted = adapters && (of_attention ? adapters->qkv : adapters->mlp_up);
  return adapted || of == LayerSection::kLogitsDgrad ? bytes : as_cast(bytes);
}

void TensorParallel::body(ProgramWriter& writer, LayerSection body) {
  if (context_.heads().cuts(body)) return context_.heads().write(writer, body);
  sections_.write(writer, body);
}

void TensorParallel::half_forward(ProgramWriter& writer, const Half& half) {
  half_result(writer, half);
  writer.compute(sections_[half.residual]);
}

void TensorParallel::half_result(ProgramWriter& writer, const Half& half) {
  if (overlaps()) return overlapped_result(writer, half);
  writer.compute(sections_[half.norm]);
  if (channel_ && sequence_parallel()) writer.wait(gather(writer, cast_input(half.body, activation_)));
  gather_narrow(writer, half.body);
  body(writer, half.body);
  if (channel_) writer.wait(sum(writer, activation_));
}

void TensorParallel::column_backward(ProgramWriter& writer, const Column& column) {
  if (sections_.tiled()) {  // then tp is 1
    sections_.write_gradients(writer, column.dgrad, column.wgrad);
    if (column.before_sum) writer.compute(sections_[*column.before_sum]);
    return;
  }
  std::optional<TaskIndex> input;
  const KernelContext& context = sections_.context();
  const bool asynchronous = context.async_reduce;
  // Where single operators are recomputed, the recomputation needs the input whole.
  const bool kept = context.keep_gathered && !context.training.recomputes_operators();
  if (channel_ && sequence_parallel() && !kept && !column.input_is_there) {
    input = gather(writer, cast_input(column.dgrad, column.gathered));
  }
  if (input && !asynchronous && !overlaps()) writer.wait(*std::exchange(input, std::nullopt));
  std::vector<TaskIndex> reduced;
  // The output layer is not a Transformer Engine layer.
  const bool in_chunks = overlap_.scatter_gradients && column.sums && column.gathered == activation_ &&
                         column.dgrad != LayerSection::kLogitsDgrad;
  if (overlaps() && in_chunks) {
    reduced = overlapped_->run(writer, column.dgrad, AttentionSpan::kAll,
                               {.role = GemmRole::kDgrad, .result = OverlappedGemms::Result::kScattered});
  } else {
    writer.compute(sections_[column.dgrad]);
    if (column.before_sum) writer.compute(sections_[*column.before_sum]);
    if (channel_ && column.sums) reduced.push_back(sum(writer, column.gathered));
  }
  if (!asynchronous) wait_for(writer, std::exchange(reduced, {}));
  if (input) writer.wait(*input);
  writer.compute(sections_[column.wgrad]);
  wait_for(writer, reduced);
}

void TensorParallel::wait_for(ProgramWriter& writer, const std::vector<TaskIndex>& tasks) {
  for (const TaskIndex task : tasks) writer.wait(task);
}

void TensorParallel::overlapped_result(ProgramWriter& writer, const Half& half) {
  using enum OverlappedGemms::Input;
  using enum OverlappedGemms::Result;
  writer.compute(sections_[half.norm]);
  if (!overlap_.gather) writer.wait(gather(writer, as_cast(activation_)));
  gather_narrow(writer, half.body);
  const auto input = overlap_.gather ? kGathered : kThere;
  const auto result = overlap_.scatter ? kScattered : kStays;
  if (context_.heads().cuts(half.body)) {
    const LayerSection first = ExchangedHeads::first_of(half.body);
    const LayerSection last = ExchangedHeads::last_of(half.body);
    wait_for(writer, overlapped_->run(writer, first, AttentionSpan::kAll, {.input = input}));
    context_.heads().between(writer, half.body);
    wait_for(writer, overlapped_->run(writer, last, AttentionSpan::kAll, {.result = result}));
  } else {
    wait_for(writer, overlapped_->run(writer, half.body, AttentionSpan::kAll, {.input = input, .result = result}));
  }
  if (!overlap_.scatter) writer.wait(sum(writer, activation_));
}

// With latent attention the latent vectors are gathered, which several GEMMs need whole.
void TensorParallel::overlapped_attention(ProgramWriter& writer, AttentionSpan span) {
  using enum OverlappedGemms::Input;
  using enum OverlappedGemms::Result;
  const auto input = overlap_.gather && attention_input_ == activation_ ? kGathered : kThere;
  const auto result = overlap_.scatter ? kScattered : kStays;
  writer.compute(sections_[LayerSection::kAttentionNorm]);
  if (input == kThere) writer.wait(gather(writer, as_cast(attention_input_)));
  gather_index_inputs(writer);
  if (context_.talks()) {
    wait_for(writer, overlapped_->run(writer, LayerSection::kQkv, span, {.input = input}));
    context_.core_forward(writer, span);
    wait_for(writer, overlapped_->run(writer, LayerSection::kProjection, span, {.result = result}));
  } else {
    wait_for(writer, overlapped_->run(writer, LayerSection::kAttention, span, {.input = input, .result = result}));
  }
  sum_index_target(writer);
  if (result == kStays) writer.wait(sum(writer, activation_));
  writer.compute(sections_[LayerSection::kAttentionResidual]);
}

// The gradient of the output arrives during the dgrad GEMM.
void TensorParallel::overlapped_body_backward(ProgramWriter& writer, LayerSection body, AttentionSpan span) {
  using enum OverlappedGemms::Input;
  if (!overlap_.gather) writer.wait(gather_gradient(writer));
  wait_for(writer, overlapped_->run(writer, body, span,
                                    {.role = GemmRole::kDgrad, .input = overlap_.gather ? kGathered : kThere}));
}

void TensorParallel::overlapped_attention_backward(ProgramWriter& writer, AttentionSpan span) {
  if (!context_.talks()) return overlapped_body_backward(writer, LayerSection::kAttentionBackward, span);
  overlapped_body_backward(writer, LayerSection::kProjectionBackward, AttentionSpan::kAll);
  context_.core_backward(writer, span);
  writer.compute(sections_[LayerSection::kQkvBackward]);
}

void TensorParallel::half_backward(ProgramWriter& writer, const HalfBackward& half) {
  writer.compute(sections_[half.residual]);
  const Input input = half.body == LayerSection::kMlpDownBackward ? mlp_again(writer) : Input::kSplit;
  if (overlaps() && context_.heads().cuts(half.body)) {
    context_.heads().again(writer, half.body);
    overlapped_body_backward(writer, ExchangedHeads::first_of(half.body), AttentionSpan::kAll);
    context_.heads().between(writer, half.body);
    writer.compute(sections_[ExchangedHeads::last_of(half.body)]);
  } else if (overlaps()) {
    overlapped_body_backward(writer, half.body, AttentionSpan::kAll);
  } else {
    if (channel_ && sequence_parallel()) writer.wait(gather_gradient(writer));
    body(writer, half.body);
  }
  scatter_narrow(writer, half.body);
  column_backward(
      writer,
      {.dgrad = half.dgrad, .wgrad = half.wgrad, .gathered = activation_, .input_is_there = input == Input::kWhole});
  writer.compute(sections_[half.norm]);
}

void TensorParallel::attention_forward(ProgramWriter& writer, AttentionSpan span) {
  if (is_parallel_block()) return parallel_attention_forward(writer, span);
  if (overlaps()) return overlapped_attention(writer, span);
  writer.compute(sections_[LayerSection::kAttentionNorm]);
  if (channel_ && sequence_parallel())
    writer.wait(gather(writer, cast_input(LayerSection::kAttention, attention_input_)));
  gather_index_inputs(writer);
  context_.attention_forward(writer, span);
  sum_index_target(writer);
  if (channel_) writer.wait(sum(writer, activation_));
  writer.compute(sections_[LayerSection::kAttentionResidual]);
}

void TensorParallel::mlp_forward(ProgramWriter& writer) {
  if (is_parallel_block()) return parallel_mlp_forward(writer);
  half_forward(writer, kMlpHalf);
}

void TensorParallel::mlp_backward(ProgramWriter& writer) {
  if (is_parallel_block()) return parallel_mlp_backward(writer);
  half_backward(writer, {LayerSection::kMlpResidualBackward, LayerSection::kMlpDownBackward, LayerSection::kMlpUpDgrad,
                         LayerSection::kMlpUpWgrad, LayerSection::kMlpNormBackward});
}

void TensorParallel::mamba_forward(ProgramWriter& writer) {
  half_forward(writer, {LayerSection::kMambaNorm, LayerSection::kMamba, LayerSection::kMambaResidual});
}

void TensorParallel::mamba_backward(ProgramWriter& writer) {
  half_backward(writer, {LayerSection::kMambaResidualBackward, LayerSection::kMambaBackward, LayerSection::kMambaDgrad,
                         LayerSection::kMambaWgrad, LayerSection::kMambaNormBackward});
}

void TensorParallel::delta_net_forward(ProgramWriter& writer) {
  half_forward(writer, {LayerSection::kDeltaNetNorm, LayerSection::kDeltaNet, LayerSection::kDeltaNetResidual});
}

void TensorParallel::delta_net_backward(ProgramWriter& writer) {
  half_backward(writer,
                {LayerSection::kDeltaNetResidualBackward, LayerSection::kDeltaNetBackward, LayerSection::kDeltaNetDgrad,
                 LayerSection::kDeltaNetWgrad, LayerSection::kDeltaNetNormBackward});
}

// The recomputed up-projections take the latent vectors of all tokens; the rotated part of the key was not released
// (Megatron-LM, multi_latent_attention.py: qkv_up_proj_and_rope_apply).
void TensorParallel::gather_latent_again(ProgramWriter& writer) {
  const KernelContext& context = sections_.context();
  if (!channel_ || !sequence_parallel() || !context.shape.latent) return;
  if (!context.training.recomputes(&RecomputedModules::latent_projection)) return;
  const auto value_bytes = static_cast<std::int64_t>(bytes_per_element(context.training.precision));
  const Bytes rotated(context.tokens() * context.shape.latent->rotated_size * value_bytes);
  writer.wait(gather(writer, as_cast(attention_input_ - rotated)));
}

void TensorParallel::attention_backward(ProgramWriter& writer, AttentionSpan span) {
  if (is_parallel_block()) return parallel_attention_backward(writer, span);
  writer.compute(sections_[LayerSection::kAttentionResidualBackward]);
  const Input input = attention_again(writer, span, Input::kSplit);
  gather_latent_again(writer);
  if (overlaps()) {
    overlapped_attention_backward(writer, span);
  } else {
    if (channel_ && sequence_parallel()) writer.wait(gather_gradient(writer));
    context_.attention_backward(writer, span);
  }
  sum_index_target(writer);
  column_backward(writer, {.dgrad = LayerSection::kQkvDgrad,
                           .wgrad = LayerSection::kQkvWgrad,
                           .gathered = attention_input_,
                           .input_is_there = input == Input::kWhole});
  writer.compute(sections_[LayerSection::kAttentionNormBackward]);
}

// The next tokens are looked up as all tokens are. A column-parallel GEMM takes both norms' results, 2h values of a
// token, and the next kernels need all of its columns (Megatron-LM, multi_token_prediction.py: _concat_embeddings).
void TensorParallel::predictor_forward(ProgramWriter& writer) {
  embedding_forward(writer);
  predictor_projection(writer);
}

void TensorParallel::predictor_projection(ProgramWriter& writer) {
  if (channel_ && sequence_parallel()) {
    writer.wait(gather(writer, cast_input(LayerSection::kPredictorInput, activation_ * 2)));
  }
  writer.compute(sections_[LayerSection::kPredictorInput]);
  gather_activation(writer);
}

// With sequence parallelism the parts of the result's gradient are gathered; each rank takes its columns.
void TensorParallel::predictor_backward(ProgramWriter& writer) {
  if (sequence_parallel()) gather_activation(writer);
  column_backward(
      writer,
      {.dgrad = LayerSection::kPredictorDgrad, .wgrad = LayerSection::kPredictorWgrad, .gathered = activation_ * 2});
  writer.compute(sections_[LayerSection::kPredictorNormBackward]);
  embedding_backward(writer);
}

// Each rank looks up the tokens of its part of the vocabulary; the sum of all is the embedding. Learned positions are
// added to all tokens, before a rank takes its part of the sequence (Megatron-LM, language_model_embedding.py:
// reduce_scatter_embeddings).
void TensorParallel::embedding_forward(ProgramWriter& writer) {
  const bool whole = sections_.context().shape.positions == Positions::kLearned;
  writer.compute(sections_[LayerSection::kEmbeddingGather]);
  if (channel_) {
    writer.wait(whole ? talk(writer, CollectiveKind::kAllReduce, activation_) : sum(writer, activation_));
  }
  writer.compute(sections_[LayerSection::kEmbeddingFinish]);
}

void TensorParallel::embedding_backward(ProgramWriter& writer) {
  writer.compute(sections_[LayerSection::kEmbeddingFinishBackward]);
  if (channel_ && sequence_parallel()) writer.wait(gather(writer, activation_));
  writer.compute(sections_[LayerSection::kEmbeddingWgrad]);
}

// Maximum, target's logit and sum of exponentials of a token, each reduced after its pass; Megatron's fused loss
// reduces the last two in one call (fused_cross_entropy.py). Transformer Engine's kernel finds all three in one pass
// and gathers them (common/triton/cross_entropy.py).
void TensorParallel::reduce_loss(ProgramWriter& writer, LayerSection after) {
  if (!channel_) return;
  const KernelContext& context = sections_.context();
  const CrossEntropy kind = context.training.cross_entropy;
  if (kind == CrossEntropy::kFused) {
    if (after == LayerSection::kLossMax) writer.wait(gather(writer, loss_ * (3 * context.tp)));
    return;
  }
  const bool together = kind == CrossEntropy::kSplitFused;
  if (together && after == LayerSection::kLossSum) return;
  const std::int64_t values = together && after == LayerSection::kLossTarget ? 2 : 1;
  writer.wait(talk(writer, CollectiveKind::kAllReduce, loss_ * values));
}

void TensorParallel::head_forward(ProgramWriter& writer) {
  writer.compute(sections_[LayerSection::kFinalNorm]);
  if (channel_ && sequence_parallel()) writer.wait(gather(writer, activation_));
  writer.compute(sections_[LayerSection::kLogits]);
  for (const LayerSection section : {LayerSection::kLossMax, LayerSection::kLossTarget, LayerSection::kLossSum}) {
    writer.compute(sections_[section]);
    reduce_loss(writer, section);
  }
  writer.compute(sections_[LayerSection::kLossFinish]);
}

void TensorParallel::head_backward(ProgramWriter& writer) {
  writer.compute(sections_[LayerSection::kLossBackward]);
  column_backward(writer,
                  {.dgrad = LayerSection::kLogitsDgrad, .wgrad = LayerSection::kLogitsWgrad, .gathered = activation_});
  writer.compute(sections_[LayerSection::kFinalNormBackward]);
}

void TensorParallel::gather_activation(ProgramWriter& writer) {
  if (channel_) writer.wait(gather(writer, activation_));
}

void TensorParallel::sum_activation(ProgramWriter& writer) {
  if (channel_) writer.wait(sum(writer, activation_));
}

void TensorParallel::reduce_norms(ProgramWriter& writer, Bytes norms) {
  if (channel_) writer.wait(talk(writer, CollectiveKind::kAllReduce, norms));
}

void TensorParallel::reduce_replicated(ProgramWriter& writer, Bytes gradients) {
  if (!channel_ || !sequence_parallel()) return;
  writer.wait(talk(writer, CollectiveKind::kAllReduce, gradients));
}

}  // namespace ringwright::workload
