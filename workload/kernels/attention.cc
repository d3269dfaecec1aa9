// Fused attention: blocks of query rows in waves over the multiprocessors, with a tail of uneven blocks.
//
//     t = (blocks / sms + tail) * ((flops + scores * score_cost) / blocks / (P/sms * share)
//                                  + exposed * (start + own bytes / (bandwidth/sms))),   at least bytes / bandwidth
//
// One multiprocessor computes a block: no kernel is shorter than its longest block, however many multiprocessors idle.
//
// A block holds `rows` query rows of one head and iterates over the keys (FlashAttention-2, arXiv 2307.08691); under a
// causal mask the longest block is twice the mean, and the discarded work of the diagonal blocks counts. A window
// leaves each block the keys of its rows and of the window before them. Every score costs an exponential on units that
// do not scale with the tensor cores, which makes short heads slow. (H100: 16 exponentials per cycle and
// multiprocessor, 3.9 of 989 TFLOP/s: 256 FLOPs each; arXiv 2407.08608, section 3.1.) The backward pass computes more
// for each score: the exponential again, its gradient, and two conversions.
//
// In fp8 the GEMMs take half of the tensor cores' time at peak rate less; exponentials, loads and ramps stay. In the
// backward pass the scores' work grows, since probabilities and their gradients are scaled and cast in the loop, and
// cuDNN computes all keys under the causal mask, whatever the window: of 2 x 128 heads of 64 with a window of 128, the
// backward pass on a GB200 takes 0.6, 1.8, 6.3, 24 and 91 ms for 2 to 32 thousand tokens, twice as many each, in bf16
// 0.2 to 3.6 ms (NVIDIA/cudnn-frontend, benchmark/sdpa_benchmark_training; validation/kernels/gb200.cudnn.csv).
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

// Scores under mask and window, and those of whole blocks of query rows, which is what a kernel computes.
struct ScoreCount {
  double asked = 0.0;
  double computed = 0.0;
};

ScoreCount scores_of(const Kernel& kernel, double rows, bool skips_keys_before_window) {
  const auto m = static_cast<double>(std::max<std::int64_t>(kernel.m, 1));
  const auto n = static_cast<double>(std::max<std::int64_t>(kernel.n, 1));
  const auto batch = static_cast<double>(kernel.batch);
  if (kernel.mask == AttentionMask::kNone) return {.asked = m * n * batch, .computed = m * n * batch};
  const double causal = m * n * batch * 0.5;
  const double blocks = causal * (1.0 + rows / n);
  if (kernel.window == 0) return {.asked = causal, .computed = blocks};
  const auto window = static_cast<double>(kernel.window);
  const double keys = window * (1.0 - 0.5 * window / n);
  const double seen = m * batch * (keys + rows);
  return {.asked = m * batch * keys, .computed = skips_keys_before_window ? std::min(blocks, seen) : blocks};
}

// Work of the longest block over that of the mean block. Under a causal mask the last query rows see all keys, and all
// queries after them see the first keys; a window leaves all blocks about the same.
double longest_block(const Kernel& kernel, double rows) {
  if (kernel.mask == AttentionMask::kNone || kernel.window > 0) return 1.0;
  return 2.0 / (1.0 + std::min(1.0, rows / static_cast<double>(std::max<std::int64_t>(kernel.n, 1))));
}

// FLOPs of GEMMs at the speed of bf16 that take as long as the work of all scores.
double score_work(const Kernel& kernel, const KernelProfile& profile, const GpuSpec& gpu) {
  const bool backward = kernel.family == KernelFamily::kAttentionBackward;
  const bool narrow = backward && kernel.type == DataType::kFp8;
  const ScoreCount scores = scores_of(kernel, profile[kAttentionRows], !narrow);
  double cost = profile[kAttentionScoreCost] * (backward ? profile[kAttentionBackwardScores] : 1.0);
  double gemms = kernel.flops.count() * scores.computed / scores.asked;
  if (narrow) {
    gemms *= gpu.peak_of(DataType::kBf16).count() / gpu.peak_of(kernel.type).count();
    cost += profile[kAttentionNarrowScores];
  }
  return gemms + scores.computed * cost;
}

}  // namespace

double attention_seconds(const Kernel& kernel, const GpuSpec& gpu) {
  const bool backward = kernel.family == KernelFamily::kAttentionBackward;
  if (kernel.type == DataType::kFp8 && !backward) {
    Kernel half = kernel;
    half.type = DataType::kBf16;
    const double flops = kernel.flops.count();
    const double saved = flops / gpu.peak_of(half.type).count() - flops / gpu.peak_of(kernel.type).count();
    return attention_seconds(half, gpu) - saved;
  }
  const KernelProfile& profile = gpu.kernels;
  const auto m = static_cast<double>(std::max<std::int64_t>(kernel.m, 1));
  const double blocks = std::ceil(m / profile[kAttentionRows]) * static_cast<double>(kernel.batch);
  constexpr std::int64_t kWide = 128;
  double share = profile[backward ? kAttentionBackwardShare : kAttentionForwardShare];
  if (backward && kernel.k > kWide) share *= profile[kAttentionWideBackward];
  const DataType clocked = kernel.type == DataType::kFp8 ? DataType::kBf16 : kernel.type;
  const double rate = gpu.peak_of(clocked).count() * share;
  const auto sms = static_cast<double>(gpu.sms);
  const double waves = blocks / sms + profile[kAttentionTail];
  const double bandwidth = gpu.memory_bandwidth.count() * profile[kStreamShare];
  const double own = profile[kAttentionStart] + own_bytes(kernel) / blocks / (bandwidth / sms);
  const double work = score_work(kernel, profile, gpu);
  const double longest = longest_block(kernel, profile[kAttentionRows]);
  const double busy = std::max(waves, longest) * (work / blocks) / (rate / sms) +
                      std::max(waves, 1.0) * profile[kAttentionExposed] * own;
  return std::max(busy, static_cast<double>(kernel.bytes.count()) / bandwidth);
}

}  // namespace ringwright::workload
