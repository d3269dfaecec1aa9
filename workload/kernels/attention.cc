// Fused attention: blocks of query rows in waves over the multiprocessors, with a tail of uneven blocks.
//
//     t = (blocks / sms + tail) * ((flops + scores * score_cost) / blocks / (P/sms * share)
//                                  + exposed * (start + own bytes / (bandwidth/sms))),   at least bytes / bandwidth
//
// A block holds `rows` query rows of one head and iterates over the keys (FlashAttention-2, arXiv 2307.08691); under a
// causal mask the longest block is twice the mean, and the discarded work of the diagonal blocks counts. Every score
// costs an exponential on units that do not scale with the tensor cores, which makes short heads slow. (H100: 16
// exponentials per cycle and multiprocessor, 3.9 of 989 TFLOP/s: 256 FLOPs each; arXiv 2407.08608, section 3.1.)
//
// In fp8 the GEMMs take half of the tensor cores' time at peak rate less; exponentials, loads and ramps stay.
//
// A kernel with one block per multiprocessor hides neither the block's first loads nor its last stores: the forward
// pass reads its queries and writes its result; the backward pass reads keys and values and writes their gradients, and
// passes before and after it read the result and its gradient, clear the sum of the queries' gradient (fp32), and
// convert it.
#include <algorithm>
#include <cmath>

#include "workload/kernels/kernel_rules.h"

namespace ringwright::workload {

using enum KernelConstant;

namespace {

// Bytes of one head's block, or one head's passes, that arithmetic may not hide.
double own_bytes(const Kernel& kernel) {
  constexpr double kForward = 2 + 2;                    // queries, result
  constexpr double kBackward = 4 * 2;                   // keys, values, and their gradients
  constexpr double kPasses = 2 + 2 + 4 + 4 + 2;         // result and gradient; fp32 sum cleared, read; its result
  const auto width = static_cast<double>(kernel.k * kernel.batch);
  const double queries = static_cast<double>(kernel.m) * width;
  if (kernel.family == KernelFamily::kAttentionForward) return kForward * queries;
  return kBackward * static_cast<double>(kernel.n) * width + kPasses * queries;
}

}  // namespace

double attention_seconds(const Kernel& kernel, const GpuSpec& gpu) {
  if (kernel.type == DataType::kFp8) {
    Kernel half = kernel;
    half.type = DataType::kBf16;
    const double flops = kernel.flops.count();
    const double saved = flops / gpu.peak_of(half.type).count() - flops / gpu.peak_of(kernel.type).count();
    return attention_seconds(half, gpu) - saved;
  }
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
  const double waves = blocks / sms + profile[kAttentionTail];
  const double bandwidth = gpu.memory_bandwidth.count() * profile[kStreamShare];
  const double own = profile[kAttentionStart] + own_bytes(kernel) / blocks / (bandwidth / sms);
  const double busy = waves * (work / blocks) / (rate / sms) + waves * profile[kAttentionExposed] * own;
  return std::max(busy, static_cast<double>(kernel.bytes.count()) / bandwidth);
}

}  // namespace ringwright::workload
