#include "workload/kernels/optimizer_kernels.h"

#include "workload/kernels/kernel_maker.h"

namespace ringwright::workload {
namespace {

using enum KernelFamily;

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

std::vector<Kernel> copy_gradients(const KernelContext& context, std::int64_t elements) {
  KernelMaker make(context);
  make.stream(kCopy, "copy gradients", elements, {.values = 1, .other_bytes = make.gradient_bytes});
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

std::vector<Kernel> gradient_norm(const KernelContext& context, std::int64_t elements) {
  KernelMaker make(context);
  make.bytes_only(kOptimizer, "gradient norm", static_cast<double>(elements) * make.gradient_bytes, DataType::kFp32);
  return make.take();
}

std::vector<Kernel> optimizer_update(const KernelContext& context, std::int64_t elements) {
  KernelMaker make(context);
  const auto n = static_cast<double>(elements);
  make.bytes_only(kOptimizer, "gradient clip", n * 2.0 * make.gradient_bytes, DataType::kFp32);
  const OptimizerTypes& optimizer = context.training.optimizer;
  if (optimizer.kind == OptimizerKind::kLamb) {
    // A gradient, the weight and the moments are read, the moments and the update in fp32 written; both are read again.
    const double master = bytes_per_element(optimizer.master);
    make.bytes_only(kOptimizer, "lamb moments", n * (2.0 + master + 2.0 * optimizer.moments() + 4.0), DataType::kFp32);
    make.bytes_only(kOptimizer, "lamb norms", n * (master + 4.0), DataType::kFp32);
    return make.take();
  }
  // The state is read and written, a gradient read and a weight written in two bytes each.
  make.bytes_only(kOptimizer, std::string(to_string(optimizer.kind)), n * (2.0 * optimizer.state() + 4.0),
                  DataType::kFp32);
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
