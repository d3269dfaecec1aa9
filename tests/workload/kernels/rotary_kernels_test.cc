// The rotation of queries and keys: the bytes that each implementation reads and writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"
#include "workload/kernels/layer_kernels.h"

namespace ringwright::workload::rotary_kernels_test {
namespace {

// Values of queries and keys: 4,096 tokens, 64 + 8 heads of 64.
constexpr double kRotated = 4096.0 * 72 * 64;
// Angles of 4,096 positions in both directions of each pair, of queries and of keys: cosine and sine are written and
// scaled in fp32, 8 bytes each, and cast, 6.
constexpr double kAngles = 2 * 4096.0 * 64 * 2 * (8 + 8 + 6);

KernelContext context_of(const std::string& model, const std::string& training = "") {
  const JobText job(
      "model: {" + model + "}\ntraining: {global_batch: 1, micro_batch: 1" + training + "}\nparallel: {}\n", 1);
  EXPECT_THAT(job.problems(), testing::IsEmpty());
  return make_kernel_context(job.shape, job.training, job.parallel);
}

// Bytes and number of the kernels whose name begins so.
struct Rotation {
  double bytes = 0.0;
  int kernels = 0;
};
Rotation rotation(const KernelContext& context, LayerSection section) {
  Rotation found;
  for (const Kernel& kernel : kernels_of(section, context)) {
    if (!kernel.name.starts_with("rotary embedding")) continue;
    found.bytes += static_cast<double>(kernel.bytes.count());
    ++found.kernels;
  }
  return found;
}

TEST(RotaryKernels, AFusedOneReadsAndWritesEachValueOnce) {
  const KernelContext fused = context_of("preset: gpt-oss-20b, position_embedding: rotary");
  for (const LayerSection section : {LayerSection::kAttention, LayerSection::kAttentionBackward}) {
    EXPECT_EQ(rotation(fused, section).bytes, kRotated * (2 + 2));
    EXPECT_EQ(rotation(fused, section).kernels, 1);
  }
}

// Half of them negative (2 bytes), halves exchanged 4, two products 8, their sum 6, all columns 4. Backward: two
// products 8, half of one negative 2, exchanged 4, the sum 6, zeros 2, their sum 6.
TEST(RotaryKernels, YarnRunsAKernelForEachOperator) {
  const KernelContext yarn = context_of("preset: gpt-oss-20b");
  EXPECT_EQ(yarn.shape.positions, Positions::kYarn);
  EXPECT_EQ(rotation(yarn, LayerSection::kAttention).bytes, kRotated * (2 + 4 + 8 + 6 + 4) + kAngles);
  EXPECT_EQ(rotation(yarn, LayerSection::kAttention).kernels, 2 * (6 + 6));
  EXPECT_EQ(rotation(yarn, LayerSection::kAttentionBackward).bytes, kRotated * (8 + 2 + 4 + 6 + 2 + 6));
  EXPECT_EQ(rotation(yarn, LayerSection::kAttentionBackward).kernels, 2 * 7);
}

TEST(RotaryKernels, WithoutFusionAnyModelRunsThem) {
  const KernelContext yarn = context_of("preset: gpt-oss-20b");
  const KernelContext unfused =
      context_of("preset: gpt-oss-20b, position_embedding: rotary", ", apply_rope_fusion: false");
  for (const LayerSection section : {LayerSection::kAttention, LayerSection::kAttentionBackward}) {
    EXPECT_EQ(rotation(unfused, section).bytes, rotation(yarn, section).bytes);
  }
}

// Its fused kernel takes cosines and sines, which hold YaRN's factor.
TEST(RotaryKernels, LatentAttentionIsFusedWithYarnAsWell) {
  const KernelContext rotary = context_of("preset: deepseek-v2-lite");
  const KernelContext yarn = context_of("preset: deepseek-v2-lite, position_embedding: yarn");
  const KernelContext unfused = context_of("preset: deepseek-v2-lite", ", apply_rope_fusion: false");
  for (const LayerSection section : {LayerSection::kAttention, LayerSection::kAttentionBackward}) {
    EXPECT_EQ(rotation(yarn, section).bytes, rotation(rotary, section).bytes);
    EXPECT_GT(rotation(unfused, section).bytes, 3 * rotation(rotary, section).bytes);
  }
}

}  // namespace
}  // namespace ringwright::workload::rotary_kernels_test
