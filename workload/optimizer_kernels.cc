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

std::vector<Kernel> gradient_norm(const KernelContext& context, std::int64_t elements) {
  KernelMaker make(context);
  make.bytes_only(kOptimizer, "gradient norm", static_cast<double>(elements) * make.gradient_bytes, DataType::kFp32);
  return make.take();
}

std::vector<Kernel> optimizer_update(const KernelContext& context, std::int64_t elements) {
  KernelMaker make(context);
  const auto n = static_cast<double>(elements);
  make.bytes_only(kOptimizer, "gradient clip", n * 2.0 * make.gradient_bytes, DataType::kFp32);
  make.bytes_only(kOptimizer, "adam", n * 28.0, DataType::kFp32);
  return make.take();
}

}  // namespace ringwright::workload
