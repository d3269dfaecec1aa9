#include "workload/kernels/kernel_rules.h"

#include <algorithm>
#include <array>

#include "core/base/check.h"

namespace ringwright::workload {
namespace {

using enum KernelConstant;
using enum KernelFamily;

struct Rule {
  KernelFamily family = kGemm;
  double (*seconds)(const Kernel& kernel, const GpuSpec& gpu) = nullptr;
};

constexpr std::array kRules{Rule{kGemm, gemm_seconds},
                            Rule{kGroupedGemm, gemm_seconds},
                            Rule{kAttentionForward, attention_seconds},
                            Rule{kAttentionBackward, attention_seconds},
                            Rule{kNorm, stream_seconds},
                            Rule{kElementwise, stream_seconds},
                            Rule{kSoftmax, stream_seconds},
                            Rule{kEmbedding, stream_seconds},
                            Rule{kOptimizer, stream_seconds},
                            Rule{kCast, stream_seconds},
                            Rule{kCopy, stream_seconds}};

struct Range {
  double least = 0.0;
  double most = 0.0;
};
bool covers(const Range& range, std::int64_t value) {
  const auto v = static_cast<double>(value);
  return range.most > 0.0 && v >= range.least && v <= range.most;
}

bool is_attention(KernelFamily family) {
  return family == kAttentionForward || family == kAttentionBackward;
}

}  // namespace

double kernel_seconds(const Kernel& kernel, const GpuSpec& gpu) {
  const auto* rule = std::ranges::find(kRules, kernel.family, &Rule::family);
  CHECK(rule != kRules.end(), "every family has a rule");
  return gpu.kernels[kStreamGap] + rule->seconds(kernel, gpu);
}

double start_seconds(const Kernel& kernel, const GpuSpec& gpu) {
  const double gap = gpu.kernels[kStreamGap];
  if (kernel.family == kGemm || kernel.family == kGroupedGemm) return gap + gemm_start(kernel, gpu.kernels);
  return is_attention(kernel.family) ? gap + gpu.kernels[kAttentionStart] : gap;
}

double library_issue_seconds(const Kernel& kernel, const GpuSpec& gpu) {
  if (is_attention(kernel.family)) return gpu.kernels[kAttentionIssue];
  if (kernel.family == kGroupedGemm) return gpu.kernels[kGroupedIssue] * static_cast<double>(kernel.batch);
  return 0.0;
}

bool within_fit(const Kernel& kernel, const KernelProfile& profile) {
  if (kernel.family == kGemm || kernel.family == kGroupedGemm) {
    if (profile.assumed[static_cast<std::size_t>(gemm_share(kernel.type))]) return false;
    const Range range{.least = profile[kGemmSmallest], .most = profile[kGemmLargest]};
    return covers(range, kernel.m) && covers(range, kernel.n) && covers(range, kernel.k);
  }
  if (is_attention(kernel.family)) {
    return covers({.least = profile[kAttentionShortest], .most = profile[kAttentionLongest]}, kernel.n);
  }
  return covers({.least = profile[kStreamSmallest], .most = profile[kStreamLargest]}, kernel.bytes.count());
}

}  // namespace ringwright::workload
