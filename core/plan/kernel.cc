#include "core/plan/kernel.h"

namespace ringwright {

std::string_view to_string(DataType type) {
  switch (type) {
    case DataType::kFp32: return "fp32";
    case DataType::kTf32: return "tf32";
    case DataType::kBf16: return "bf16";
    case DataType::kFp16: return "fp16";
    case DataType::kFp8: return "fp8";
    case DataType::kFp4: return "fp4";
  }
  return "";
}

double bytes_per_element(DataType type) {
  switch (type) {
    case DataType::kFp32:
    case DataType::kTf32: return 4.0;
    case DataType::kBf16:
    case DataType::kFp16: return 2.0;
    case DataType::kFp8: return 1.0;
    case DataType::kFp4: return 0.5;
  }
  return 0.0;
}

std::string_view to_string(KernelFamily family) {
  switch (family) {
    case KernelFamily::kGemm: return "gemm";
    case KernelFamily::kGroupedGemm: return "grouped gemm";
    case KernelFamily::kAttentionForward: return "attention forward";
    case KernelFamily::kAttentionBackward: return "attention backward";
    case KernelFamily::kNorm: return "norm";
    case KernelFamily::kElementwise: return "elementwise";
    case KernelFamily::kSoftmax: return "softmax";
    case KernelFamily::kEmbedding: return "embedding";
    case KernelFamily::kOptimizer: return "optimizer";
    case KernelFamily::kCast: return "cast";
    case KernelFamily::kCopy: return "copy";
  }
  return "";
}

std::string_view to_string(GemmRole role) {
  switch (role) {
    case GemmRole::kForward: return "forward";
    case GemmRole::kDgrad: return "dgrad";
    case GemmRole::kWgrad: return "wgrad";
  }
  return "";
}

Kernel whole_kernel(const Kernel& share) {
  Kernel whole = share;
  whole.flops = share.flops * static_cast<double>(share.share_of);
  whole.bytes = share.bytes * std::int64_t{share.share_of};
  whole.share_of = 1;
  return whole;
}

Flops total_flops(const Work& work) {
  Flops total;
  for (const Kernel& kernel : work.kernels) total += kernel.flops * static_cast<double>(kernel.launches);
  return total;
}

}  // namespace ringwright
