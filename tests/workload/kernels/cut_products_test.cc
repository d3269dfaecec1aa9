#include "workload/kernels/cut_products.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"
#include "workload/kernels/layer_kernels.h"

namespace ringwright::workload::cut_products_test {
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

TEST(CutProducts, AnMlpIsCutAtBothOfItsProducts) {
  const CutKernels cut = cut_products(kernels_of(Piece::kMlp, context_of("")), {.first = 4, .last = 2});
  EXPECT_THAT(names(cut.head), IsEmpty());
  EXPECT_THAT(names(cut.first), ElementsAre("mlp up"));
  EXPECT_THAT(names(cut.middle), ElementsAre("swiglu"));
  EXPECT_THAT(names(cut.last), ElementsAre("mlp down"));
  EXPECT_THAT(names(cut.tail), IsEmpty());
}

TEST(CutProducts, AShareHasItsRowsAndAllOfTheWeights) {
  const std::vector<Kernel> whole = kernels_of(Piece::kMlp, context_of(""));
  const CutKernels cut = cut_products(whole, {.first = 4});
  const Kernel& up = whole.front();
  const Kernel& share = cut.first.front();
  EXPECT_EQ(share.m, up.m / 4);
  EXPECT_EQ(share.n, up.n);
  EXPECT_DOUBLE_EQ(4.0 * share.flops.count(), up.flops.count());
  // 32 rows of 64 in, 48 out; 64 x 48 weights; two bytes.
  EXPECT_EQ(up.bytes, Bytes(2 * (32 * 64 + 64 * 48 + 32 * 48)));
  EXPECT_EQ(share.bytes, Bytes(2 * (8 * 64 + 64 * 48 + 8 * 48)));
}

TEST(CutProducts, NothingIsLost) {
  for (const Piece piece : {Piece::kMlp, Piece::kAttention, Piece::kMlpDownBackward, Piece::kAttentionBackward}) {
    const bool forward = piece == Piece::kMlp || piece == Piece::kAttention;
    const std::vector<Kernel> whole = kernels_of(piece, context_of(""));
    const CutKernels cut = cut_products(
        whole, {.role = forward ? ProductRole::kForward : ProductRole::kDgrad, .first = 4, .last = forward ? 2 : 0});
    EXPECT_DOUBLE_EQ(flops(cut.head) + 4 * flops(cut.first) + flops(cut.middle) +
                         (forward ? 2 * flops(cut.last) : 0.0) + flops(cut.tail),
                     flops(whole));
  }
}

TEST(CutProducts, QuantisationGoesWithItsProduct) {
  const std::vector<Kernel> whole = kernels_of(Piece::kMlp, context_of(", fp8_recipe: delayed"));
  const CutKernels cut = cut_products(whole, {.first = 4, .last = 4});
  EXPECT_THAT(names(cut.first), ElementsAre("quantise", "mlp up"));
  EXPECT_THAT(names(cut.last), ElementsAre("quantise", "mlp down"));
  EXPECT_EQ(4 * cut.first.front().bytes.count(), whole.front().bytes.count());
}

TEST(CutProducts, ABackwardPassIsCutAtTheGradientOfItsInput) {
  const CutKernels cut =
      cut_products(kernels_of(Piece::kMlpDownBackward, context_of("")), {.role = ProductRole::kDgrad, .first = 4});
  EXPECT_THAT(names(cut.first), ElementsAre("mlp down dgrad"));
  EXPECT_THAT(names(cut.middle), ElementsAre("mlp down wgrad", "swiglu backward"));
}

TEST(CutProducts, WithoutSuchAProductAllIsInTheMiddle) {
  const std::vector<Kernel> whole = kernels_of(Piece::kMlpNorm, context_of(""));
  const CutKernels cut = cut_products(whole, {.first = 4, .last = 4});
  EXPECT_THAT(names(cut.middle), testing::ElementsAreArray(names(whole)));
  EXPECT_THAT(cut.first, IsEmpty());
}

}  // namespace
}  // namespace ringwright::workload::cut_products_test
