// Recomputation of an MLP with its norm (Megatron-LM, transformer_layer.py: recompute_mlp), and of single operators on
// ranks that split a layer: what a rank recomputes of a GEMM's inputs and results is communicated again, unless it was
// saved.
//
// torchtitan's option `op` saves the results of attention and of reduce-scatters, JAX's policies what they name; the
// attention core is one operator with its exchange among context-parallel ranks.
#include "workload/parallel/tensor.h"

namespace ringwright::workload {

TensorParallel::Input TensorParallel::attention_again(ProgramWriter& writer, AttentionSpan span, Input input) {
  const KernelContext& context = sections_.context();
  const TrainingOptions& training = context.training;
  if (!context.recomputes_apart()) return input;
  const bool all = training.recompute == Recompute::kExceptSaved;
  writer.compute(sections_[LayerSection::kAttentionNormAgain]);
  if (all && !training.saved.qkv && channel_ && sequence_parallel() && input == Input::kSplit) {
    writer.wait(gather(writer, cast_input(LayerSection::kQkvDgrad, attention_input_)));
    input = Input::kWhole;
  }
  writer.compute(sections_[LayerSection::kQkvAgain]);
  if (all && !training.saved.core) context_.core_again(writer, span);
  const bool saved = all && training.saved.projection;
  if (saved || is_parallel_block()) return input;
  writer.compute(sections_[LayerSection::kProjectionAgain]);
  if (channel_ && (all || !sequence_parallel())) writer.wait(sum(writer, activation_));
  return input;
}

TensorParallel::Input TensorParallel::mlp_again(ProgramWriter& writer) {
  const KernelContext& context = sections_.context();
  if (context.training.recomputes(&RecomputedModules::mlp)) half_result(writer, kMlpHalf);
  if (!context.recomputes_apart()) return Input::kSplit;
  const bool all = context.training.recompute == Recompute::kExceptSaved;
  const bool gathers = all && !context.training.saved.mlp_up && channel_ && sequence_parallel();
  writer.compute(sections_[LayerSection::kMlpNormAgain]);
  if (gathers) writer.wait(gather(writer, cast_input(LayerSection::kMlpUpDgrad, activation_)));
  writer.compute(sections_[LayerSection::kMlpAgain]);
  return gathers ? Input::kWhole : Input::kSplit;
}

}  // namespace ringwright::workload
