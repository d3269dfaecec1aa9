#include "workload/kernels/expert_activation.h"

#include <cmath>

#include "workload/kernels/expert_kernels.h"

namespace ringwright::workload {

using enum KernelFamily;

ExpertSizes expert_sizes(const KernelContext& context) {
  const ExpertShape& experts = *context.shape.experts;
  const std::int64_t width = experts.ffn / context.experts.etp;
  return {.local = experts.count / context.experts.ep,
          .width = width,
          .gated = context.shape.activation == Activation::kSwiGlu ? 2 * width : width,
          .rows = expert_rows(context)};
}

void stream_experts(KernelMaker& make, const ExpertSizes& sizes, KernelFamily family, const char* name,
                    const KernelMaker::Touch& per_element) {
  make.stream(family, name, std::llround(sizes.rows * static_cast<double>(sizes.width)), per_element);
  make.for_each_expert(sizes.local);
}

namespace {

// Gate and input of a clamped activation are clamped by PyTorch's operators and joined before the fused activation
// (Megatron-LM, fused_bias_geglu.py: weighted_bias_quick_geglu_impl): both are read and written by the clamps, and
// again by the join. In reverse masks of a byte for the gate's one limit and the input's two, the choice by each, and
// the join. A fused grouped MLP clamps in its GEMM.
constexpr double kClampMask = 1.0;

bool clamps_activation(const KernelMaker& make) {
  return make.shape.experts->clamped && !make.fused().grouped_mlp;
}

void add_expert_clamp(KernelMaker& make, const ExpertSizes& sizes) {
  if (!clamps_activation(make)) return;
  for (const char* name : {"experts clamp gate", "experts clamp input"}) {
    stream_experts(make, sizes, kElementwise, name, {.values = 2});
  }
  stream_experts(make, sizes, kCopy, "experts clamp join", {.values = 4});
}

void add_expert_clamp_backward(KernelMaker& make, const ExpertSizes& sizes) {
  if (!clamps_activation(make)) return;
  for (const char* name : {"experts clamp backward: gate below", "experts clamp backward: input above",
                           "experts clamp backward: input below"}) {
    stream_experts(make, sizes, kElementwise, name, {.values = 1, .other_bytes = kClampMask});
  }
  stream_experts(make, sizes, kElementwise, "experts clamp backward: input inside", {.other_bytes = 3.0 * kClampMask});
  for (const char* name : {"experts clamp backward: gate", "experts clamp backward: input"}) {
    stream_experts(make, sizes, kElementwise, name, {.values = 2, .other_bytes = kClampMask});
  }
  stream_experts(make, sizes, kCopy, "experts clamp backward: joined", {.values = 4});
}

}  // namespace

// One value of the activation's result is two of its input.
void add_expert_activation(KernelMaker& make, const ExpertSizes& sizes) {
  add_expert_clamp(make, sizes);
  const bool gated = make.shape.activation == Activation::kSwiGlu;
  stream_experts(make, sizes, kElementwise, gated ? "experts swiglu" : "experts gelu", {.values = gated ? 3.0 : 2.0});
  if (!make.casts_activation_input()) return;
  stream_experts(make, sizes, kCast, "experts swiglu input to fp8",
                 {.values = 2, .other_bytes = 2.0 * make.activation_input});
}

void add_expert_activation_backward(KernelMaker& make, const ExpertSizes& sizes) {
  const bool gated = make.shape.activation == Activation::kSwiGlu;
  if (make.casts_activation_input()) {
    stream_experts(make, sizes, kCast, "experts swiglu input from fp8",
                   {.values = 2, .other_bytes = 2.0 * make.activation_input});
  }
  stream_experts(make, sizes, kElementwise, gated ? "experts swiglu backward" : "experts gelu backward",
                 {.values = gated ? 5.0 : 3.0});
  add_expert_clamp_backward(make, sizes);
}

}  // namespace ringwright::workload
