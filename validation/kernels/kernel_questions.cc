#include "validation/kernels/kernel_questions.h"

#include <array>

#include "workload/kernels/kernel_rules.h"

namespace ringwright::validation {
namespace {

using enum workload::KernelConstant;

bool is_eager(const MeasuredKernel& row) {
  return row.mode == LaunchMode::kEager;
}
bool is_half(const MeasuredKernel& row) {
  return row.kernel.type == DataType::kBf16 || row.kernel.type == DataType::kFp16;
}
bool is_fp8(const MeasuredKernel& row) {
  return row.kernel.type == DataType::kFp8;
}
bool is_fp4(const MeasuredKernel& row) {
  return row.kernel.type == DataType::kFp4;
}
// Bound by memory, or not far from it: fewer operations for a byte than the GPU can do in its time.
bool is_thin(const MeasuredKernel& row) {
  constexpr double kFlopsForByte = 250.0;
  return row.kernel.flops.count() < kFlopsForByte * static_cast<double>(row.kernel.bytes.count());
}
// Short ones show the time of a GEMM in addition to arithmetic, narrow ones most; in longer ones k_ramp can absorb it.
bool is_short_and_narrow(const MeasuredKernel& row) {
  return row.seconds < 20e-6 && (is_fp8(row) || is_fp4(row));
}
bool is_single(const MeasuredKernel& row) {
  return row.kernel.type == DataType::kTf32 || row.kernel.type == DataType::kFp32;
}
bool is_grouped(const MeasuredKernel& row) {
  return row.kernel.family == KernelFamily::kGroupedGemm;
}
bool is_dgrad(const MeasuredKernel& row) {
  return row.kernel.role == GemmRole::kDgrad;
}
bool is_wgrad(const MeasuredKernel& row) {
  return row.kernel.role == GemmRole::kWgrad;
}
// Weight gradients that are added to a sum in fp32: results of many bytes.
bool adds_to_results(const MeasuredKernel& row) {
  const Kernel& kernel = row.kernel;
  const auto results = static_cast<double>(kernel.m) * static_cast<double>(kernel.n * kernel.batch);
  return is_wgrad(row) &&
         static_cast<double>(kernel.bytes.count()) - workload::gemm_operand_bytes(kernel) > 7.0 * results;
}
bool is_forward_attention(const MeasuredKernel& row) {
  return row.kernel.family == KernelFamily::kAttentionForward;
}
bool is_backward_attention(const MeasuredKernel& row) {
  return row.kernel.family == KernelFamily::kAttentionBackward;
}
// In long ones the work of a block hides its start and its end.
bool is_short_attention(const MeasuredKernel& row) {
  constexpr std::int64_t kShort = 2048;
  return row.kernel.n <= kShort;
}
// Heads of 64 and of 128 differ in the GEMMs of a score, not in the rest of its work.
bool is_narrow_headed_backward(const MeasuredKernel& row) {
  return is_backward_attention(row) && row.kernel.k <= 64;
}
bool is_fp8_backward(const MeasuredKernel& row) {
  return is_backward_attention(row) && is_fp8(row);
}
bool is_wide_backward(const MeasuredKernel& row) {
  return is_backward_attention(row) && row.kernel.k > 128;
}

// Shares follow from one row.
constexpr std::size_t kSeveral = 16;
constexpr std::size_t kSome = 8;
constexpr std::size_t kFew = 5;

constexpr std::array kStreamQuestions{Question{kStreamShare, 1, any_row}, Question{kStreamGap, kManyRows, any_row},
                                      Question{kStreamCacheSpeed, kManyRows, any_row},
                                      Question{kStreamCacheShare, kManyRows, any_row},
                                      Question{kHostLaunch, kManyRows, is_eager}};
// power_time is not fitted: from 0.1 to 1 ms the rows of a B200 and of an A100 are met equally well, while the shares
// of peak follow it from 61 % to 98 %. On the B200 GEMMs up to 60 us run at 1.4 PFLOP/s, those above 0.7 ms at 1.1,
// and half of the loss is reached between 0.1 and 0.4 ms.
constexpr std::array kGemmQuestions{Question{kGemmHalfShare, 1, is_half},
                                    Question{kGemmFp8Share, 1, is_fp8},
                                    Question{kGemmFp4Share, 1, is_fp4},
                                    Question{kGemmSingleShare, 1, is_single},
                                    Question{kGemmSustained, kManyRows, any_row},
                                    Question{kGemmDgradSpeed, kSome, is_dgrad},
                                    Question{kGemmWgradSpeed, kSome, is_wgrad},
                                    Question{kGemmRamp, kSeveral, any_row},
                                    Question{kGemmTileLoad, kManyRows, any_row},
                                    Question{kGemmWaveRounding, kSeveral, any_row},
                                    Question{kGemmMemoryShare, kFew, is_thin},
                                    Question{kGemmExposed, kFew, is_thin},
                                    Question{kGemmExposedResults, kSome, adds_to_results},
                                    Question{kGemmStart, 2, is_short_and_narrow},
                                    Question{kGemmFp4Start, 2, is_fp4},
                                    Question{kGroupedSpeed, kSome, is_grouped},
                                    Question{kGroupedIssue, kSome, is_grouped}};
constexpr std::array kAttentionQuestions{Question{kAttentionForwardShare, 1, is_forward_attention},
                                         Question{kAttentionBackwardShare, 1, is_backward_attention},
                                         Question{kAttentionWideBackward, 2, is_wide_backward},
                                         Question{kAttentionScoreCost, kSome, any_row},
                                         Question{kAttentionBackwardScores, kSome, is_narrow_headed_backward},
                                         Question{kAttentionNarrowScores, kSome, is_fp8_backward},
                                         Question{kAttentionTail, kSome, any_row},
                                         Question{kAttentionExposed, kSome, is_short_attention},
                                         Question{kAttentionStart, kSome, is_short_attention},
                                         Question{kAttentionIssue, kSome, is_eager}};

}  // namespace

bool any_row(const MeasuredKernel&) {
  return true;
}

bool is_cold_row(const MeasuredKernel& row) {
  return row.cold;
}

std::span<const Question> stream_questions() {
  return kStreamQuestions;
}

std::span<const Question> gemm_questions() {
  return kGemmQuestions;
}

std::span<const Question> attention_questions() {
  return kAttentionQuestions;
}

}  // namespace ringwright::validation
