#include "workload/activations.h"

#include <cmath>

#include "workload/kernel_maker.h"

namespace ringwright::workload {
namespace {

double value_bytes(const KernelContext& context) {
  return bytes_per_element(context.training.precision);
}
Bytes whole(double bytes) {
  return Bytes(std::llround(bytes));
}

// Of the attention core: what selective recomputation saves.
double core_bytes_per_token(const KernelContext& context, const KernelMaker& sizes) {
  if (context.training.recompute == Recompute::kSelective) return 0.0;
  const auto heads = static_cast<double>(sizes.heads);
  if (context.training.attention == AttentionKernel::kFused) return 4.0 * heads;  // one fp32 statistic a row
  // Probabilities; with dropout also their mask and the dropped-out probabilities.
  const double per_score = context.shape.attention_dropout ? 2.0 * value_bytes(context) + 1.0 : value_bytes(context);
  return per_score * heads * static_cast<double>(context.shape.sequence);
}

double kept_layer(const KernelContext& context) {
  const KernelMaker sizes(context);
  const double e = value_bytes(context);
  const auto h = static_cast<double>(context.shape.hidden);
  const double mask = context.shape.hidden_dropout ? 1.0 : 0.0;
  // Inputs of two norms and of two column-parallel products, and two dropout masks: whole on every rank without
  // sequence parallelism.
  const double local = static_cast<double>(sizes.local_tokens) * (4.0 * e + 2.0 * mask) * h;
  // Queries, keys, values, the projection's input; the activation's input and output.
  const auto columns = static_cast<double>(2 * sizes.query + 2 * sizes.key_value + sizes.gated_ffn + sizes.ffn);
  return local + static_cast<double>(sizes.tokens) * (e * columns + core_bytes_per_token(context, sizes));
}

}  // namespace

Bytes layer_activations(const KernelContext& context) {
  if (context.training.recompute != Recompute::kFull) return whole(kept_layer(context));
  const KernelMaker sizes(context);
  return whole(static_cast<double>(sizes.local_tokens * context.shape.hidden) * value_bytes(context));
}

Bytes recomputed_layer(const KernelContext& context) {
  return context.training.recompute == Recompute::kFull ? whole(kept_layer(context)) : Bytes(0);
}

// Token ids, and the dropout's mask.
Bytes embedding_activations(const KernelContext& context) {
  const KernelMaker sizes(context);
  const std::int64_t mask = context.shape.hidden_dropout ? sizes.local_tokens * context.shape.hidden : 0;
  return Bytes(8 * sizes.tokens + mask);
}

// Inputs of the final norm and of the output layer, and the softmax of the logits in fp32.
Bytes head_activations(const KernelContext& context) {
  const KernelMaker sizes(context);
  const double inputs = 2.0 * value_bytes(context) * static_cast<double>(sizes.local_tokens * context.shape.hidden);
  return whole(inputs + 4.0 * static_cast<double>(sizes.tokens * sizes.vocabulary));
}

// The logits before they are cast, and their gradient after.
Bytes head_workspace(const KernelContext& context) {
  const KernelMaker sizes(context);
  return whole(value_bytes(context) * static_cast<double>(sizes.tokens * sizes.vocabulary));
}

// Gradients of the MLP's output, of its activation and of its up product are alive together.
Bytes gradient_workspace(const KernelContext& context) {
  const KernelMaker sizes(context);
  return whole(value_bytes(context) *
               static_cast<double>(sizes.tokens * (context.shape.hidden + sizes.ffn + sizes.gated_ffn)));
}

}  // namespace ringwright::workload
