#include "workload/kernel_maker.h"

#include <cmath>
#include <utility>

namespace ringwright::workload {
namespace {

Bytes whole(double bytes) {
  return Bytes(std::llround(bytes));
}
double product_flops(const Product& p) {
  return 2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) *
         static_cast<double>(p.batch);
}

}  // namespace

KernelMaker::KernelMaker(const KernelContext& context)
    : shape(context.shape),
      tokens(context.training.micro_batch * context.shape.sequence),
      local_tokens(context.sequence_parallel ? tokens / context.tp : tokens),
      heads(context.shape.heads / context.tp),
      query(heads * context.shape.head_size),
      key_value(kv_heads_per_rank(context.shape, context.tp) * context.shape.head_size),
      ffn(context.shape.ffn / context.tp),
      gated_ffn(context.shape.activation == Activation::kSwiGlu ? 2 * ffn : ffn),
      vocabulary(padded_vocabulary(context.shape, context.tp) / context.tp),
      gradient_bytes(bytes_per_element(context.training.grad_reduce)),
      context_(context) {}

void KernelMaker::batched_product(std::string name, const Product& p) {
  const auto operands = static_cast<double>((p.m * p.k + p.k * p.n + p.m * p.n) * p.batch);
  kernels_.push_back({.family = KernelFamily::kGemm,
                      .name = std::move(name),
                      .type = context_.training.precision,
                      .m = p.m,
                      .n = p.n,
                      .k = p.k,
                      .batch = p.batch,
                      .role = p.role,
                      .flops = Flops(product_flops(p)),
                      .bytes = whole(operands * bytes_per_element(context_.training.precision))});
}

void KernelMaker::linear(std::string name, std::int64_t inputs, std::int64_t outputs) {
  batched_product(std::move(name), {.m = tokens, .n = outputs, .k = inputs});
}

void KernelMaker::dgrad(std::string name, std::int64_t inputs, std::int64_t outputs) {
  batched_product(std::move(name), {.m = tokens, .n = inputs, .k = outputs, .role = ProductRole::kDgrad});
}

void KernelMaker::wgrad(std::string name, std::int64_t inputs, std::int64_t outputs) {
  const Product p{.m = inputs, .n = outputs, .k = tokens};
  const double operands =
      static_cast<double>(tokens * (inputs + outputs)) * bytes_per_element(context_.training.precision);
  const double accumulated = 2.0 * gradient_bytes * static_cast<double>(inputs * outputs);  // read, add, write
  kernels_.push_back({.family = KernelFamily::kGemm,
                      .name = std::move(name),
                      .type = context_.training.precision,
                      .m = p.m,
                      .n = p.n,
                      .k = p.k,
                      .role = ProductRole::kWgrad,
                      .flops = Flops(product_flops(p)),
                      .bytes = whole(operands + accumulated)});
}

void KernelMaker::attention(std::string name, KernelFamily family) {
  const std::int64_t s = shape.sequence;
  const std::int64_t batch = context_.training.micro_batch * heads;
  // Two products over half of the score matrix; five of them backward.
  const double forward = 2.0 * static_cast<double>(batch) * static_cast<double>(s) * static_cast<double>(s) *
                         static_cast<double>(shape.head_size);
  const bool backward = family == KernelFamily::kAttentionBackward;
  // Forward: reads Q, K, V, writes O. Backward: reads Q, K, V, O, dO, writes dQ, dK, dV. One fp32 statistic a row.
  const double columns = backward ? 4.0 * static_cast<double>(query) + 4.0 * static_cast<double>(key_value)
                                  : 2.0 * static_cast<double>(query) + 2.0 * static_cast<double>(key_value);
  const double moved = static_cast<double>(tokens) *
                       (columns * bytes_per_element(context_.training.precision) + 4.0 * static_cast<double>(heads));
  kernels_.push_back({.family = family,
                      .name = std::move(name),
                      .type = context_.training.precision,
                      .m = s,
                      .n = s,
                      .k = shape.head_size,
                      .batch = batch,
                      .mask = AttentionMask::kCausal,
                      .flops = Flops(backward ? 2.5 * forward : forward),
                      .bytes = whole(moved)});
}

void KernelMaker::bytes_only(KernelFamily family, std::string name, double bytes, DataType type) {
  kernels_.push_back({.family = family, .name = std::move(name), .type = type, .bytes = whole(bytes)});
}

void KernelMaker::stream(KernelFamily family, std::string name, std::int64_t elements, const Touch& per_element) {
  const double each = per_element.values * bytes_per_element(context_.training.precision) + per_element.other_bytes;
  bytes_only(family, std::move(name), static_cast<double>(elements) * each, context_.training.precision);
}

}  // namespace ringwright::workload
