#include "workload/kernels/pointwise_kernels.h"

#include "workload/kernels/fusions.h"

namespace ringwright::workload {
namespace {

using enum KernelFamily;

constexpr double kPointwiseFp32 = 4.0;

bool is_chain(const KernelMaker& make) {
  return make.pointwise == Pointwise::kEager && make.shape.normalization == Normalization::kRmsNorm;
}

bool is_gated(const KernelMaker& make) {
  return make.shape.activation == Activation::kSwiGlu;
}

}  // namespace

void add_norm(KernelMaker& make, const std::string& name, std::int64_t elements) {
  if (!is_chain(make)) return make.stream(kNorm, name, elements, {.values = 2});
  make.stream(kCast, name + ": to fp32", elements, {.values = 1, .other_bytes = kPointwiseFp32});
  make.stream(kElementwise, name + ": square", elements, {.other_bytes = 2 * kPointwiseFp32});
  make.stream(kNorm, name + ": mean", elements, {.other_bytes = kPointwiseFp32});
  make.stream(kElementwise, name + ": scale", elements, {.other_bytes = 2 * kPointwiseFp32});
  make.stream(kCast, name + ": from fp32", elements, {.values = 1, .other_bytes = kPointwiseFp32});
  make.stream(kElementwise, name + ": weight", elements, {.values = 2});
}

// Fused: reads input and output gradient, writes the input's gradient. PyTorch's LayerNorm reads both again for the
// gradients of its weights.
void add_norm_backward(KernelMaker& make, const std::string& name, std::int64_t elements) {
  if (make.pointwise == Pointwise::kFused) return make.stream(kNorm, name + " backward", elements, {.values = 3});
  if (!is_chain(make)) {
    make.stream(kNorm, name + " backward", elements, {.values = 3});
    return make.stream(kNorm, name + " weight gradient", elements, {.values = 2});
  }
  make.stream(kElementwise, name + " backward: weight", elements, {.values = 2});
  make.stream(kElementwise, name + " backward: weight's product", elements, {.values = 3});
  make.stream(kNorm, name + " backward: weight's sum", elements, {.values = 1});
  make.stream(kCast, name + " backward: to fp32", elements, {.values = 1, .other_bytes = kPointwiseFp32});
  make.stream(kElementwise, name + " backward: scale", elements, {.other_bytes = 2 * kPointwiseFp32});
  make.stream(kElementwise, name + " backward: scale's product", elements, {.other_bytes = 3 * kPointwiseFp32});
  make.stream(kNorm, name + " backward: scale's sum", elements, {.other_bytes = kPointwiseFp32});
  make.stream(kElementwise, name + " backward: mean", elements, {.other_bytes = kPointwiseFp32});
  // Of x^2: x^1, times 2, times the gradient.
  make.stream(kElementwise, name + " backward: power", elements, {.other_bytes = 2 * kPointwiseFp32});
  make.stream(kElementwise, name + " backward: twice", elements, {.other_bytes = 2 * kPointwiseFp32});
  make.stream(kElementwise, name + " backward: square", elements, {.other_bytes = 3 * kPointwiseFp32});
  make.stream(kElementwise, name + " backward: sum of both", elements, {.other_bytes = 3 * kPointwiseFp32});
  make.stream(kCast, name + " backward: from fp32", elements, {.values = 1, .other_bytes = kPointwiseFp32});
}

void add_residual_gradient(KernelMaker& make, std::int64_t elements) {
  make.stream(kElementwise, "residual gradient", elements, {.values = 3});
}

void add_residual(KernelMaker& make) {
  const std::int64_t elements = make.local_tokens * make.shape.hidden;
  if (make.shape.hidden_dropout) {
    make.stream(kElementwise, "bias dropout add", elements, {.values = 3, .other_bytes = kDropoutMaskBytes});
    return;
  }
  make.stream(kElementwise, "residual add", elements, {.values = 3});
}

void add_residual_backward(KernelMaker& make, OutputBias bias) {
  const std::int64_t elements = make.local_tokens * make.shape.hidden;
  if (make.shape.hidden_dropout) {
    make.stream(kElementwise, "dropout backward", elements, {.values = 2, .other_bytes = kDropoutMaskBytes});
  }
  if (bias == OutputBias::kNone || make.fused().bias_gradient) return;
  make.stream(kElementwise, "bias gradient", elements, {.values = 1});
}

// SwiGLU reads gate and up and writes one; GELU reads one (with its bias) and writes one.
void add_activation(KernelMaker& make, const std::string& suffix, std::int64_t elements) {
  if (!is_gated(make)) return make.stream(kElementwise, "gelu" + suffix, elements, {.values = 2});
  if (make.pointwise == Pointwise::kFused) {
    const bool within = activation_cast(make) == Cast::kWithin;
    make.stream(kElementwise, "swiglu" + suffix, elements,
                {.values = within ? 2.0 : 3.0, .other_bytes = within ? make.narrow_bytes() : 0.0});
    if (!make.casts_activation_input()) return;
    return make.stream(kCast, "swiglu input to fp8" + suffix, 2 * elements,
                       {.values = 1, .other_bytes = make.activation_input});
  }
  make.stream(kElementwise, "silu" + suffix, elements, {.values = 2});
  make.stream(kElementwise, "gate" + suffix, elements, {.values = 3});
}

// The GEMM writes its result before GELU as well, in the working type (cuBLASLt's GELU_AUX).
void add_fused_gelu(KernelMaker& make) {
  const bool narrow = activation_cast(make) == Cast::kTransposed;
  const double value = bytes_per_element(make.precision());
  make.widen_results("mlp up", narrow ? value - make.narrow_saving() : value);
}

// The gradient's GEMM reads what GELU read (DGELU_BGRAD); or the kernel that casts its result does.
void add_fused_gelu_backward(KernelMaker& make) {
  if (activation_gradient_cast(make) != Cast::kWithin) {
    return make.widen_results("mlp down dgrad", bytes_per_element(make.precision()));
  }
  make.stream(kElementwise, "gelu backward", make.tokens * make.ffn,
              {.values = 2, .other_bytes = make.narrow_bytes()});
}

void add_activation_backward(KernelMaker& make, std::int64_t elements) {
  if (!is_gated(make)) return make.stream(kElementwise, "gelu backward", elements, {.values = 3});
  if (make.pointwise == Pointwise::kFused) {
    if (make.casts_activation_input()) {
      make.stream(kCast, "swiglu input from fp8", 2 * elements, {.values = 1, .other_bytes = make.activation_input});
    }
    const bool within = activation_cast(make) == Cast::kWithin;
    return make.stream(kElementwise, "swiglu backward", elements,
                       {.values = within ? 3.0 : 5.0, .other_bytes = within ? 2.0 * make.narrow_bytes() : 0.0});
  }
  make.stream(kElementwise, "gate backward", elements, {.values = 3});
  make.stream(kElementwise, "up backward", elements, {.values = 3});
  make.stream(kElementwise, "silu backward", elements, {.values = 3});
}

}  // namespace ringwright::workload
