#include "workload/kernels/split_gemms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"
#include "workload/kernels/layer_kernels.h"

namespace ringwright::workload::split_gemms_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

KernelContext context_of(const std::string& training) {
  const JobText job(
      small_model(2) + "training: {global_batch: 4" + training + "}\nparallel: {tp: 4, sequence_parallel: true}\n", 4);
  EXPECT_THAT(job.problems(), IsEmpty());
  return make_kernel_context(job.shape, job.training, job.parallel);
}

std::vector<std::string> names(const std::vector<Kernel>& kernels) {
  std::vector<std::string> result;
  for (const Kernel& kernel : kernels) result.push_back(kernel.name);
  return result;
}

double flops(const std::vector<Kernel>& kernels) {
  double sum = 0.0;
  for (const Kernel& kernel : kernels) sum += kernel.flops.count();
  return sum;
}

TEST(SplitGemms, AnMlpIsCutAtBothOfItsGemms) {
  const CutKernels cut = split_gemms(kernels_of(LayerSection::kMlp, context_of("")), {.first = 4, .last = 2});
  EXPECT_THAT(names(cut.head), IsEmpty());
  EXPECT_THAT(names(cut.first), ElementsAre("mlp up"));
  EXPECT_THAT(names(cut.middle), ElementsAre("swiglu"));
  EXPECT_THAT(names(cut.last), ElementsAre("mlp down"));
  EXPECT_THAT(names(cut.tail), IsEmpty());
}

// The host issues an operator for the whole GEMM, and turns of its loop for the shares.
TEST(SplitGemms, SharesAreTurnsOfALoop) {
  const CutKernels cut = split_gemms(kernels_of(LayerSection::kMlp, context_of("")), {.first = 4, .last = 1});
  EXPECT_EQ(cut.first.front().issue, KernelIssue::kLoop);
  EXPECT_EQ(cut.last.front().issue, KernelIssue::kOperator);
}

TEST(SplitGemms, AShareHasItsRowsAndAllOfTheWeights) {
  const std::vector<Kernel> whole = kernels_of(LayerSection::kMlp, context_of(""));
  const CutKernels cut = split_gemms(whole, {.first = 4});
  const Kernel& up = whole.front();
  const Kernel& share = cut.first.front();
  EXPECT_EQ(share.m, up.m / 4);
  EXPECT_EQ(share.n, up.n);
  EXPECT_DOUBLE_EQ(4.0 * share.flops.count(), up.flops.count());
  // 32 rows of 64 in, 48 out; 64 x 48 weights; two bytes.
  EXPECT_EQ(up.bytes, Bytes(2 * (32 * 64 + 64 * 48 + 32 * 48)));
  EXPECT_EQ(share.bytes, Bytes(2 * (8 * 64 + 64 * 48 + 8 * 48)));
}

TEST(SplitGemms, NothingIsLost) {
  for (const LayerSection section : {LayerSection::kMlp, LayerSection::kAttention, LayerSection::kMlpDownBackward,
                                     LayerSection::kAttentionBackward}) {
    const bool forward = section == LayerSection::kMlp || section == LayerSection::kAttention;
    const std::vector<Kernel> whole = kernels_of(section, context_of(""));
    const CutKernels cut = split_gemms(
        whole, {.role = forward ? GemmRole::kForward : GemmRole::kDgrad, .first = 4, .last = forward ? 2 : 0});
    EXPECT_DOUBLE_EQ(flops(cut.head) + 4 * flops(cut.first) + flops(cut.middle) +
                         (forward ? 2 * flops(cut.last) : 0.0) + flops(cut.tail),
                     flops(whole));
  }
}

TEST(SplitGemms, QuantisationGoesWithItsGemm) {
  const std::vector<Kernel> whole = kernels_of(LayerSection::kMlp, context_of(", fp8_recipe: delayed"));
  const CutKernels cut = split_gemms(whole, {.first = 4, .last = 4});
  EXPECT_THAT(names(cut.first), ElementsAre("quantise", "mlp up"));
  EXPECT_THAT(names(cut.last), ElementsAre("quantise", "mlp down"));
  EXPECT_EQ(4 * cut.first.front().bytes.count(), whole.front().bytes.count());
}

TEST(SplitGemms, ABackwardPassIsCutAtTheGradientOfItsInput) {
  const CutKernels cut =
      split_gemms(kernels_of(LayerSection::kMlpDownBackward, context_of("")), {.role = GemmRole::kDgrad, .first = 4});
  EXPECT_THAT(names(cut.first), ElementsAre("mlp down dgrad"));
  EXPECT_THAT(names(cut.middle), ElementsAre("mlp down wgrad", "swiglu backward"));
}

TEST(SplitGemms, WithoutSuchAGemmAllIsInTheMiddle) {
  const std::vector<Kernel> whole = kernels_of(LayerSection::kMlpNorm, context_of(""));
  const CutKernels cut = split_gemms(whole, {.first = 4, .last = 4});
  EXPECT_THAT(names(cut.middle), testing::ElementsAreArray(names(whole)));
  EXPECT_THAT(cut.first, IsEmpty());
}

// 8192 x 6144 x 12288 (an MLP of GPT-3 on eight ranks): 64 x 24 tiles of 128 x 256 in 11.6 waves on 132 SMs.
TEST(SplitGemms, AFusedKernelHasNoMoreSharesThanWaves) {
  Kernel gemm{.family = KernelFamily::kGemm, .name = "mlp up", .m = 8192, .n = 6144, .k = 12288,
              .flops = Flops(2.0 * 8192 * 6144 * 12288), .bytes = Bytes(1200)};
  EXPECT_EQ(gemm_waves(gemm, 132), 12);
  const CutKernels fine = split_gemms({gemm}, {.first = 32, .sms = 132});
  EXPECT_EQ(fine.first_shares, 12);
  const CutKernels coarse = split_gemms({gemm}, {.last = 8, .sms = 132});
  EXPECT_EQ(coarse.last_shares, 8);
  const Kernel& share = coarse.last.front();
  EXPECT_EQ(share.share_of, 8);
  EXPECT_EQ(share.m, 8192);  // of the whole kernel
  EXPECT_DOUBLE_EQ(8.0 * share.flops.count(), gemm.flops.count());
  EXPECT_EQ(whole_kernel(share).bytes, gemm.bytes);
}

}  // namespace
}  // namespace ringwright::workload::cut_products_test
