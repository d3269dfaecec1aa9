#include "workload/memory/expert_activations.h"

#include "workload/kernels/expert_kernels.h"
#include "workload/memory/activations.h"

namespace ringwright::workload {
namespace {

// Inputs of the GEMMs to and from the experts' latent space. The first one's is the norm's result, which the router
// stores; in fp8 and fp4 a cast of its own.
double latent_inputs(const KernelContext& context, const KernelMaker& sizes) {
  if (context.shape.experts->latent == 0) return 0.0;
  const bool cast = context.training.narrow != NarrowRecipe::kNone;
  const std::int64_t columns = context.shape.experts->latent + (cast ? context.shape.hidden : 0);
  return linear_input_bytes(context) * static_cast<double>(sizes.local_tokens * columns);
}

double shared_experts_bytes(const KernelContext& context, const KernelMaker& sizes) {
  const ExpertShape& experts = *context.shape.experts;
  const std::int64_t inputs = context.shape.activation == Activation::kSwiGlu ? 2 : 1;
  const double each = sizes.activation_input * static_cast<double>(inputs) + linear_input_bytes(context);
  // What their gate scales.
  const std::int64_t gated = experts.shared_gate ? sizes.local_tokens * context.shape.hidden : 0;
  return each * static_cast<double>(sizes.tokens * experts.shared_ffn / context.tp) +
         bytes_per_element(context.training.precision) * static_cast<double>(gated);
}

}  // namespace

// Tokens are weighted by the activation, so that no backward pass reads the results of the second GEMM (Megatron-Core
// from 0.12 on: TEGroupedMLP, and unpermute without probabilities).
double stored_by_experts(const KernelContext& context, const KernelMaker& sizes, WholeModules modules) {
  const ExpertShape& experts = *context.shape.experts;
  const double e = bytes_per_element(context.training.precision);
  const std::int64_t inputs = context.shape.activation == Activation::kSwiGlu ? 2 : 1;
  const auto width = static_cast<double>(experts.ffn / context.experts.etp);
  const auto inner = static_cast<double>(expert_hidden(context.shape));
  const double low = linear_input_bytes(context);
  const TrainingOptions& training = context.training;
  const bool again = training.recomputes(&RecomputedModules::expert_activation);  // from its input in the working type
  // A clamped activation stores what its clamps read and what they write.
  const bool copied = experts.clamped && !training.fused.grouped_mlp && !again;
  const double input = again || training.fused.grouped_mlp ? e : sizes.activation_input;
  const double stored = (input + (copied ? e : 0.0)) * static_cast<double>(inputs) + (again ? 0.0 : low);
  const double rows = expert_rows(context) * (low * inner + stored * width);
  const double router = 4.0 * static_cast<double>(sizes.local_tokens * experts.count);
  const bool shared = modules == WholeModules::kStored || !training.recomputes(&RecomputedModules::shared_experts);
  return rows + router + latent_inputs(context, sizes) + (shared ? shared_experts_bytes(context, sizes) : 0.0);
}

}  // namespace ringwright::workload
