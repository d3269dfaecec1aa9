#include "workload/optimizer_kernels.h"

#include "workload/kernel_maker.h"

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

std::vector<Kernel> gradient_norm(const KernelContext& context, std::int64_t elements) {
  KernelMaker make(context);
  make.bytes_only(kOptimizer, "gradient norm", static_cast<double>(elements) * make.gradient_bytes, DataType::kFp32);
  return make.take();
}

std::vector<Kernel> optimizer_update(const KernelContext& context, std::int64_t elements) {
  KernelMaker make(context);
  const auto n = static_cast<double>(elements);
  make.bytes_only(kOptimizer, "gradient clip", n * 2.0 * make.gradient_bytes, DataType::kFp32);
  // The state is read and written, a gradient read and a weight written in two bytes each.
  const double state = context.training.optimizer.state();
  make.bytes_only(kOptimizer, "adam", n * (2.0 * state + 4.0), DataType::kFp32);
  return make.take();
}

}  // namespace ringwright::workload
