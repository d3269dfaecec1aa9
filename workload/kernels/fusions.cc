#include "workload/kernels/fusions.h"

namespace ringwright::workload {

bool fuses_gelu(const KernelMaker& make) {
  const bool adapted = make.shape.adapters && make.shape.adapters->mlp_up;  // which is added after the GEMM
  return make.fused().gemm_gelu && make.shape.activation == Activation::kGelu && !adapted;
}

Cast activation_cast(const KernelMaker& make) {
  const bool delayed = make.recipe() == NarrowRecipe::kDelayed;
  if (fuses_gelu(make)) return delayed ? Cast::kTransposed : Cast::kApart;
  const bool within = delayed || make.recipe() == NarrowRecipe::kMxfp8;
  const bool in_one = make.pointwise == Pointwise::kFused && make.fused().mlp;
  return within && in_one && make.shape.activation == Activation::kSwiGlu ? Cast::kWithin : Cast::kApart;
}

Cast activation_gradient_cast(const KernelMaker& make) {
  const Cast forward = activation_cast(make);
  return forward == Cast::kTransposed ? Cast::kWithin : forward;
}

bool narrow_context(const KernelMaker& make) {
  const NarrowRecipe recipe = make.recipe();
  const bool one_scale = recipe == NarrowRecipe::kDelayed || recipe == NarrowRecipe::kTensorwise;
  const bool in_fp8 = make.fused().fp8_attention && make.fused().fp8_heads && one_scale;
  return in_fp8 && make.fuses_attention() && make.cp() == 1 && make.gate == 0 && !make.shape.latent;
}

bool narrow_queries(const KernelMaker& make) {
  const bool adapted = make.shape.adapters && make.shape.adapters->qkv;
  const bool changed = rotates(make.shape) || make.shape.query_key_norm || adapted;
  return narrow_context(make) && !changed;
}

bool fuses_residual_gradient(const KernelMaker& make) {
  return make.fused().residual_norm && make.pointwise == Pointwise::kFused &&
         make.shape.normalization == Normalization::kRmsNorm;
}

}  // namespace ringwright::workload
