#include "workload/kernels/unfused_attention.h"

#include <cstdint>

namespace ringwright::workload {
namespace {

using enum KernelFamily;

constexpr double kAttentionFp32 = 4.0;

std::int64_t scores(const KernelMaker& make) {
  return make.tokens * make.shape.sequence * make.heads;
}

// Megatron's fused scale, mask and softmax processes four sequences of a head at a time (ScaledMaskedSoftmax in its
// fused_softmax.py: batch x heads % 4); otherwise PyTorch runs each operator, in fp32.
bool softmax_is_fused(const KernelMaker& make, const KernelContext& context) {
  return context.training.micro_batch * make.heads % 4 == 0;
}

void add_softmax(KernelMaker& make, const KernelContext& context) {
  const std::int64_t n = scores(make);
  if (softmax_is_fused(make, context)) return make.stream(kSoftmax, "attention softmax", n, {.values = 2});
  make.stream(kCast, "attention scores: to fp32", n, {.values = 1, .other_bytes = kAttentionFp32});
  make.stream(kElementwise, "attention scores: scale", n, {.other_bytes = 2 * kAttentionFp32});
  make.stream(kElementwise, "attention scores: mask", n, {.other_bytes = 2 * kAttentionFp32 + kDropoutMaskBytes});
  make.stream(kSoftmax, "attention softmax", n, {.other_bytes = 2 * kAttentionFp32});
  make.stream(kCast, "attention softmax: from fp32", n, {.values = 1, .other_bytes = kAttentionFp32});
}

void add_softmax_backward(KernelMaker& make, const KernelContext& context) {
  const std::int64_t n = scores(make);
  if (softmax_is_fused(make, context)) return make.stream(kSoftmax, "attention softmax backward", n, {.values = 3});
  make.stream(kCast, "attention softmax backward: to fp32", n, {.values = 1, .other_bytes = kAttentionFp32});
  make.stream(kSoftmax, "attention softmax backward", n, {.other_bytes = 3 * kAttentionFp32});
  make.stream(kElementwise, "attention scores backward: mask", n,
              {.other_bytes = 2 * kAttentionFp32 + kDropoutMaskBytes});
  make.stream(kElementwise, "attention scores backward: scale", n, {.other_bytes = 2 * kAttentionFp32});
  make.stream(kCast, "attention scores backward: from fp32", n, {.values = 1, .other_bytes = kAttentionFp32});
}

}  // namespace

void add_unfused(KernelMaker& make, const KernelContext& context) {
  const std::int64_t s = make.shape.sequence;
  const std::int64_t batch = context.training.micro_batch * make.heads;
  make.batched_gemm("attention scores", {.m = s, .n = s, .k = key_size(make.shape), .batch = batch});
  add_softmax(make, context);
  if (make.shape.attention_dropout) {
    make.stream(kElementwise, "attention dropout", scores(make), {.values = 2, .other_bytes = kDropoutMaskBytes});
  }
  make.batched_gemm("attention over values", {.m = s, .n = value_size(make.shape), .k = s, .batch = batch});
  make.stream(kCopy, "attention context copy", make.tokens * make.context, {.values = 2});
}

void add_unfused_backward(KernelMaker& make, const KernelContext& context) {
  const std::int64_t s = make.shape.sequence;
  const std::int64_t keys = key_size(make.shape);
  const std::int64_t values = value_size(make.shape);
  const std::int64_t batch = context.training.micro_batch * make.heads;
  make.stream(kCopy, "attention context copy", make.tokens * make.context, {.values = 2});
  make.batched_gemm("attention probabilities dgrad", {.m = s, .n = s, .k = values, .batch = batch});
  make.batched_gemm("attention values dgrad", {.m = s, .n = values, .k = s, .batch = batch});
  if (make.shape.attention_dropout) {
    make.stream(kElementwise, "attention dropout backward", scores(make),
                {.values = 2, .other_bytes = kDropoutMaskBytes});
  }
  add_softmax_backward(make, context);
  make.batched_gemm("attention queries dgrad", {.m = s, .n = keys, .k = s, .batch = batch});
  make.batched_gemm("attention keys dgrad", {.m = s, .n = keys, .k = s, .batch = batch});
}

}  // namespace ringwright::workload
