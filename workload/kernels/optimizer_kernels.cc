#include "workload/kernels/optimizer_kernels.h"

#include "workload/kernels/kernel_maker.h"

namespace ringwright::workload {
namespace {

using enum KernelFamily;

constexpr double kFp32 = 4.0;

// Megatron's precision-aware optimizer: one kernel of Transformer Engine reads gradients in the type in which they were
// reduced, and writes the weights.
bool is_precision_aware(const OptimizerTypes& types) {
  return types.precision_aware || types.master != DataType::kFp32 ||
         types.first != DataType::kFp32 || types.second != DataType::kFp32;
}

// Of the gradients that the update reads.
double read_gradient(const KernelContext& context, Updated updated) {
  const bool as_reduced = updated == Updated::kCopies && is_precision_aware(context.training.optimizer);
  return as_reduced ? bytes_per_element(context.training.grad_reduce) : kFp32;
}

}  // namespace

std::vector<Kernel> clear_gradients(const KernelContext& context, std::int64_t elements) {
  KernelMaker make(context);
  make.bytes_only(kCopy, "clear gradients", static_cast<double>(elements) * make.gradient_bytes, DataType::kFp32);
  return make.take();
}

std::vector<Kernel> scale_gradients(const KernelContext& context, std::int64_t elements) {
  KernelMaker make(context);
  make.bytes_only(kElementwise, "scale gradients", static_cast<double>(elements) * 2.0 * make.gradient_bytes,
                  DataType::kFp32);
  return make.take();
}

std::vector<Kernel> add_gradients(const KernelContext& context, std::int64_t elements) {
  KernelMaker make(context);
  make.bytes_only(kElementwise, "add gradients", static_cast<double>(elements) * 3.0 * make.gradient_bytes,
                  DataType::kFp32);
  return make.take();
}

std::vector<Kernel> copy_gradients(const KernelContext& context, std::int64_t elements, CopiedGradients copied) {
  KernelMaker make(context);
  if (copied == CopiedGradients::kAccumulated) {
    make.stream(kCopy, "copy gradients", elements, {.values = 0, .other_bytes = 2.0 * make.gradient_bytes});
  } else {
    make.stream(kCopy, "copy gradients", elements, {.values = 1, .other_bytes = make.gradient_bytes});
  }
  return make.take();
}

std::vector<Kernel> accumulate_unsharded(const KernelContext& context, std::int64_t elements, Accumulated which,
                                         bool in_reduction_type) {
  KernelMaker make(context);
  if (!in_reduction_type) {
    if (which == Accumulated::kFurther) make.stream(kElementwise, "accumulate gradients", elements, {.values = 3});
    return make.take();
  }
  const double sums = which == Accumulated::kFurther ? 2.0 : 1.0;  // read and written, or written
  const bool casts = make.gradient_bytes > bytes_per_element(context.training.precision);
  if (which == Accumulated::kFirst && !casts) return {};
  make.stream(which == Accumulated::kFirst ? kCast : kElementwise, "accumulate gradients", elements,
              {.values = 1, .other_bytes = sums * make.gradient_bytes});
  return make.take();
}

std::vector<Kernel> quantize_weights(const KernelContext& context, std::int64_t elements) {
  KernelMaker make(context);
  make.stream(kCast, "quantize weights", elements, {.values = 1, .other_bytes = 1.0});
  return make.take();
}

std::vector<Kernel> restore_weights(const KernelContext& context, std::int64_t elements) {
  KernelMaker make(context);
  make.stream(kCast, "restore weights", elements, {.values = 1, .other_bytes = 1.0});
  return make.take();
}

std::vector<Kernel> quantize_gradients(const KernelContext& context, std::int64_t elements) {
  KernelMaker make(context);
  make.stream(kCast, "quantize gradients", elements, {.values = 0, .other_bytes = make.gradient_bytes + 0.5});
  return make.take();
}

std::vector<Kernel> sum_quantized_gradients(const KernelContext& context, std::int64_t elements, std::int64_t sums) {
  KernelMaker make(context);
  const double bytes = 0.5 * static_cast<double>(elements) + make.gradient_bytes * static_cast<double>(sums);
  make.bytes_only(kCast, "sum quantized gradients", bytes, DataType::kFp32);
  return make.take();
}

std::vector<Kernel> cast_weights(const KernelContext& context, std::int64_t elements, std::int64_t matrices) {
  KernelMaker make(context);
  make.cast_weights(static_cast<double>(elements), matrices);
  return make.take();
}

std::vector<Kernel> gradient_norm(const KernelContext& context, std::int64_t elements, Updated updated) {
  KernelMaker make(context);
  const auto n = static_cast<double>(elements);
  const double each = read_gradient(context, updated);
  if (updated == Updated::kCopies && make.gradient_bytes < each) {
    make.bytes_only(kCast, "gradients to fp32", n * (make.gradient_bytes + each), DataType::kFp32);
  }
  make.bytes_only(kOptimizer, "gradient norm", n * each, DataType::kFp32);
  return make.take();
}

std::vector<Kernel> optimizer_update(const KernelContext& context, std::int64_t elements, Updated updated) {
  KernelMaker make(context);
  const auto n = static_cast<double>(elements);
  const double gradient = read_gradient(context, updated);
  make.bytes_only(kOptimizer, "gradient clip", n * 2.0 * gradient, DataType::kFp32);
  const OptimizerTypes& optimizer = context.training.optimizer;
  const double master = bytes_per_element(optimizer.master);
  if (optimizer.kind == OptimizerKind::kLamb) {
    // A gradient, the weight and the moments are read, the moments and the update in fp32 written; both are read again.
    make.bytes_only(kOptimizer, "lamb moments", n * (gradient + master + 2.0 * optimizer.moments() + kFp32),
                    DataType::kFp32);
    make.bytes_only(kOptimizer, "lamb norms", n * (master + kFp32), DataType::kFp32);
    return make.take();
  }
  // The state is read and written, a gradient read.
  const double weight = bytes_per_element(context.training.precision);
  const bool copies = updated == Updated::kCopies && context.training.precision != DataType::kFp32;
  const bool at_once = copies && is_precision_aware(optimizer);
  const double written = (optimizer.remainders ? 2.0 : 1.0) * weight;  // and read, where they are part of the state
  make.bytes_only(kOptimizer, std::string(to_string(optimizer.kind)),
                  n * (2.0 * optimizer.state() + gradient + (at_once ? written : 0.0)), DataType::kFp32);
  if (copies && !at_once) make.bytes_only(kCopy, "copy weights", n * (master + weight), DataType::kFp32);
  return make.take();
}

std::vector<Kernel> outer_gradient(const KernelContext& context, std::int64_t elements) {
  KernelMaker make(context);
  const LocalSgd& local = context.training.local_sgd;
  const double outer_weights = local.outer == OuterOptimizer::kNesterov ? 4.0 : 0.0;
  const double each = bytes_per_element(context.training.optimizer.master) + outer_weights;
  make.bytes_only(kOptimizer, "outer gradient",
                  static_cast<double>(elements) * (each + bytes_per_element(local.exchanged)), DataType::kFp32);
  return make.take();
}

std::vector<Kernel> outer_update(const KernelContext& context, std::int64_t elements) {
  KernelMaker make(context);
  const LocalSgd& local = context.training.local_sgd;
  // Outer weights and momentum are read and written; master weights and weights are written.
  const double written =
      bytes_per_element(context.training.optimizer.master) + bytes_per_element(context.training.precision);
  const double each = bytes_per_element(local.exchanged) + 2.0 * local.state() + written;
  make.bytes_only(kOptimizer, "outer update", static_cast<double>(elements) * each, DataType::kFp32);
  return make.take();
}

std::vector<Kernel> optimizer_apply(const KernelContext& context, std::int64_t elements) {
  if (context.training.optimizer.kind != OptimizerKind::kLamb) return {};
  KernelMaker make(context);
  const double master = bytes_per_element(context.training.optimizer.master);
  make.bytes_only(kOptimizer, "lamb", static_cast<double>(elements) * (2.0 * master + 4.0 + 2.0), DataType::kFp32);
  return make.take();
}

}  // namespace ringwright::workload
