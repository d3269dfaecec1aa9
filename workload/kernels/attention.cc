// Fused attention: blocks of query rows in waves over the multiprocessors, with a tail of uneven blocks.
//
//     t = (blocks / sms + tail) * (flops + scores * score_cost) / blocks / (P/sms * share), at least bytes / bandwidth
//
// A block holds `rows` query rows of one head and walks over the keys (FlashAttention-2, arXiv 2307.08691); under a
// causal mask the longest block is twice the mean, and what the diagonal's blocks compute and throw away counts. Every
// score costs an exponential on units that do not grow with the products', which is what makes short heads slow.
#include <algorithm>
#include <cmath>

#include "workload/kernels/kernel_rules.h"

namespace ringwright::workload {

using enum KernelConstant;

double attention_seconds(const Kernel& kernel, const GpuSpec& gpu) {
  const KernelProfile& profile = gpu.kernels;
  const bool backward = kernel.family == KernelFamily::kAttentionBackward;
  const bool causal = kernel.mask == AttentionMask::kCausal;
  const auto m = static_cast<double>(std::max<std::int64_t>(kernel.m, 1));
  const auto n = static_cast<double>(std::max<std::int64_t>(kernel.n, 1));
  const auto batch = static_cast<double>(kernel.batch);
  const double rows = profile[kAttentionRows];
  const double blocks = std::ceil(m / rows) * batch;
  const double scores = m * n * batch * (causal ? 0.5 : 1.0);
  const double diagonal = causal ? 1.0 + rows / n : 1.0;
  const double work = (kernel.flops.count() + scores * profile[kAttentionScoreCost]) * diagonal;
  constexpr std::int64_t kWide = 128;
  double share = profile[backward ? kAttentionBackwardShare : kAttentionForwardShare];
  if (backward && kernel.k > kWide) share *= profile[kAttentionWideBackward];
  const double rate = gpu.peak_of(kernel.type).count() * share;
  const auto sms = static_cast<double>(gpu.sms);
  const double arithmetic = (blocks / sms + profile[kAttentionTail]) * (work / blocks) / (rate / sms);
  const double moved =
      static_cast<double>(kernel.bytes.count()) / (gpu.memory_bandwidth.count() * profile[kStreamShare]);
  return std::max(arithmetic, moved);
}

}  // namespace ringwright::workload
