#include "workload/kernels/delta_net_kernels.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"

namespace ringwright::workload::delta_net_kernels_test {
namespace {

KernelContext context_of(const std::string& parallel, const std::string& training = "") {
  const JobText job("model: {preset: qwen3-next-80b-a3b, seq_length: 4096}\ntraining: {global_batch: 64" + training +
                        "}\nparallel: {" + parallel + "}\n",
                    8);
  EXPECT_THAT(job.problems(), testing::IsEmpty());
  return make_kernel_context(job.shape, job.training, job.parallel);
}

template <class Count>
double sum_of(LayerSection section, const KernelContext& context, std::string_view name, const Count& count) {
  double sum = 0.0;
  for (const Kernel& kernel : kernels_of(section, context)) {
    if (kernel.name.starts_with(name)) sum += count(kernel);
  }
  return sum;
}
double flops_of(LayerSection section, const KernelContext& context, std::string_view name = "") {
  return sum_of(section, context, name, [](const Kernel& kernel) { return kernel.flops.count(); });
}
double bytes_of(LayerSection section, const KernelContext& context, std::string_view name = "") {
  return sum_of(section, context, name, [](const Kernel& kernel) { return static_cast<double>(kernel.bytes.count()); });
}

constexpr double kTokens = 4096.0;
constexpr double kState = 128.0 * 128.0;  // and 32 heads, chunks of 64

TEST(DeltaNetKernels, HaveTheFormulasFlops) {
  const KernelContext context = context_of("tp: 1");
  const auto forward = [&](const char* name) { return flops_of(LayerSection::kDeltaNet, context, name); };
  EXPECT_DOUBLE_EQ(forward("delta net in"), 2.0 * kTokens * 2048 * (2 * 2048 + 2 * 4096 + 64));
  EXPECT_DOUBLE_EQ(forward("delta net out"), 2.0 * kTokens * 2048 * 4096);
  EXPECT_DOUBLE_EQ(forward("delta net triangle"), kTokens * 32 * 2.0 * 64 * 128);
  EXPECT_DOUBLE_EQ(forward("delta net w and u"), kTokens * 32 * 2.0 * 64 * 256);
  EXPECT_DOUBLE_EQ(forward("delta net states"), kTokens * 32 * 2.0 * 2 * kState);
  EXPECT_DOUBLE_EQ(forward("delta net result"), kTokens * 32 * 2.0 * (kState + 64 * 2 * 128));
}

TEST(DeltaNetKernels, BackwardComputesStatesAgain) {
  const KernelContext context = context_of("tp: 1");
  const auto backward = [&](const char* name) { return flops_of(LayerSection::kDeltaNetBackward, context, name); };
  EXPECT_DOUBLE_EQ(backward("delta net states backward"), kTokens * 32 * 2.0 * 3 * kState);
  EXPECT_DOUBLE_EQ(backward("delta net states") - backward("delta net states backward"),
                   flops_of(LayerSection::kDeltaNet, context, "delta net states"));
  EXPECT_DOUBLE_EQ(backward("delta net values gradient"), kTokens * 32 * 2.0 * 64 * 256);
  EXPECT_DOUBLE_EQ(backward("delta net queries and keys gradient"), kTokens * 32 * 2.0 * (3 * kState + 64 * 4 * 128));
  EXPECT_DOUBLE_EQ(backward("delta net w and u gradient"), kTokens * 32 * 2.0 * 64 * (7 * 128 + 2 * 64));
}

TEST(DeltaNetKernels, BackwardHasBothGradientsOfEachGemm) {
  const KernelContext context = context_of("tp: 1");
  const double gemms = flops_of(LayerSection::kDeltaNet, context, "delta net in") +
                       flops_of(LayerSection::kDeltaNet, context, "delta net out");
  const double gradients = flops_of(LayerSection::kDeltaNetBackward, context, "delta net out") +
                           flops_of(LayerSection::kDeltaNetDgrad, context, "delta net in") +
                           flops_of(LayerSection::kDeltaNetWgrad, context, "delta net in");
  EXPECT_DOUBLE_EQ(gradients, 2.0 * gemms);
}

TEST(DeltaNetKernels, TensorParallelRanksShareTheWork) {
  for (const LayerSection section : {LayerSection::kDeltaNet, LayerSection::kDeltaNetBackward}) {
    const double whole = flops_of(section, context_of("tp: 1"));
    const KernelContext split = context_of("tp: 4, sequence_parallel: true");
    EXPECT_NEAR(4.0 * flops_of(section, split) / whole, 1.0, 1e-12);
    EXPECT_NEAR(
        4.0 * bytes_of(section, split, "delta net states") / bytes_of(section, context_of("tp: 1"), "delta net states"),
        1.0, 1e-12);
  }
}

// Linear attention: work and bytes grow with tokens, not with their square. Bytes of the states: k, w, u and what is
// left of it, 128 columns each, a state of 128 x 128 for each chunk, and a decay in fp32.
TEST(DeltaNetKernels, WorkGrowsWithTokens) {
  KernelContext context = context_of("tp: 1");
  EXPECT_DOUBLE_EQ(bytes_of(LayerSection::kDeltaNet, context, "delta net states"),
                   kTokens * 32 * (2.0 * (4 * 128 + kState / 64) + 4.0));
  const double flops = flops_of(LayerSection::kDeltaNet, context);
  const double bytes = bytes_of(LayerSection::kDeltaNet, context, "delta net states");
  context.shape.sequence *= 4;
  EXPECT_DOUBLE_EQ(flops_of(LayerSection::kDeltaNet, context), 4.0 * flops);
  EXPECT_DOUBLE_EQ(bytes_of(LayerSection::kDeltaNet, context, "delta net states"), 4.0 * bytes);
}

// Documents of 96 tokens have two chunks each, the second one half empty.
TEST(DeltaNetKernels, ChunksDoNotCrossDocuments) {
  KernelContext context = context_of("tp: 1");
  context.shape.sequence = 96 * 40;
  const double whole = flops_of(LayerSection::kDeltaNet, context, "delta net triangle");
  context.training.document = 96;
  EXPECT_DOUBLE_EQ(flops_of(LayerSection::kDeltaNet, context, "delta net triangle"), whole * 128.0 / 96.0);
}

TEST(DeltaNetKernels, EqualHeadsAreNotRepeated) {
  const auto has = [](const KernelContext& context, const char* name) {
    return flops_of(LayerSection::kDeltaNet, context, name) + bytes_of(LayerSection::kDeltaNet, context, name) > 0.0;
  };
  KernelContext context = context_of("tp: 1");
  EXPECT_TRUE(has(context, "delta net queries and keys repeated"));
  context.shape.delta_net->key_heads = 32;
  EXPECT_FALSE(has(context, "delta net queries and keys repeated"));
}

TEST(DeltaNetKernels, TheGatedNormIsComputedAgainForItsModule) {
  const auto norms = [](const KernelContext& context) {
    return sum_of(LayerSection::kDeltaNetBackward, context, "delta net gated norm", [](const Kernel&) { return 1.0; });
  };
  EXPECT_EQ(norms(context_of("tp: 1")), 1.0);
  EXPECT_EQ(norms(context_of("tp: 1", ", recompute: selective, recompute_modules: [gdn_norm_out]")), 2.0);
}

// The gate doubles the columns of queries, and its product reads result and gate: 16 heads of 256.
TEST(DeltaNetKernels, AttentionHasAnOutputGate) {
  KernelContext context = context_of("tp: 1");
  EXPECT_DOUBLE_EQ(flops_of(LayerSection::kAttention, context, "qkv"), 2.0 * kTokens * 2048 * (2 * 4096 + 2 * 512));
  EXPECT_DOUBLE_EQ(bytes_of(LayerSection::kAttention, context, "attention gate"), 3.0 * 2 * kTokens * 4096);
  EXPECT_DOUBLE_EQ(bytes_of(LayerSection::kAttentionBackward, context, "attention gate"), 5.0 * 2 * kTokens * 4096);
  context.shape.output_gate = false;
  EXPECT_DOUBLE_EQ(flops_of(LayerSection::kAttention, context, "qkv"), 2.0 * kTokens * 2048 * (4096 + 2 * 512));
  EXPECT_DOUBLE_EQ(bytes_of(LayerSection::kAttention, context, "attention gate"), 0.0);
}

// A score reads the token, the product reads and writes it.
TEST(DeltaNetKernels, SharedExpertsHaveAGate) {
  KernelContext context = context_of("tp: 1");
  EXPECT_DOUBLE_EQ(bytes_of(LayerSection::kSharedExperts, context, "shared experts gate"), 3.0 * 2 * kTokens * 2048);
  EXPECT_DOUBLE_EQ(bytes_of(LayerSection::kSharedExpertsBackward, context, "shared experts gate"),
                   8.0 * 2 * kTokens * 2048);
  context.shape.experts->shared_gate = false;
  EXPECT_DOUBLE_EQ(bytes_of(LayerSection::kSharedExperts, context, "shared experts gate"), 0.0);
}

}  // namespace
}  // namespace ringwright::workload::delta_net_kernels_test
