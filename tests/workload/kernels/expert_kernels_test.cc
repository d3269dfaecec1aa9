#include "workload/kernels/expert_kernels.h"

#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"
#include "workload/memory/activations.h"

namespace ringwright::workload::expert_kernels_test {
namespace {

KernelContext context_of(const std::string& preset, const std::string& parallel, std::int64_t ranks) {
  const JobText job("model: {preset: " + preset + "}\ntraining: {global_batch: 64, attention: unfused}\nparallel: {" +
                        parallel + "}\n",
                    ranks);
  EXPECT_THAT(job.problems(), testing::IsEmpty());
  return make_kernel_context(job.shape, job.training, job.parallel);
}

Flops flops_of(const std::vector<LayerSection>& sections, const KernelContext& context) {
  Flops total;
  for (const LayerSection section : sections) {
    for (const Kernel& kernel : kernels_of(section, context)) total += kernel.flops;
  }
  return total;
}

Kernel find(LayerSection section, const KernelContext& context, const std::string& name) {
  const std::vector<Kernel> kernels = kernels_of(section, context);
  const auto found = std::ranges::find(kernels, name, &Kernel::name);
  EXPECT_NE(found, kernels.end()) << name;
  return found == kernels.end() ? Kernel{} : *found;
}

const std::vector<LayerSection> kForward{LayerSection::kAttentionNorm, LayerSection::kAttention, LayerSection::kRouter,
                                         LayerSection::kExperts, LayerSection::kSharedExperts};
const std::vector<LayerSection> kBackward{LayerSection::kRouterBackward,        LayerSection::kExpertsBackward,
                                          LayerSection::kExpertsWgrad,          LayerSection::kQkvDgrad,
                                          LayerSection::kSharedExpertsBackward, LayerSection::kQkvWgrad,
                                          LayerSection::kAttentionBackward,     LayerSection::kAttentionNormBackward};

TEST(ExpertKernels, LayersHaveExactlyTheFormulasFlops) {
  for (const char* preset : {"mixtral-8x7b", "qwen3-30b-a3b", "deepseek-v2-lite", "deepseek-v3"}) {
    const KernelContext context = context_of(preset, "ep: 8, etp: 1", 8);
    const std::int64_t layer = context.shape.layers - 1;
    const double formula = layer_forward_flops(context.shape, 1, AttentionCount::kFull, layer).count();
    EXPECT_NEAR(flops_of(kForward, context).count() / formula, 1.0, 1e-12) << preset;
    EXPECT_NEAR(flops_of(kBackward, context).count() / (2.0 * formula), 1.0, 1e-12) << preset;
  }
}

// Of eight experts on eight ranks a token visits the two of its experts: two vectors of h 4096 in bf16 are read and two
// written for each of 4096 tokens (mixtral-8x7b), 4096 x 4 x 8192 bytes. Without fusion HybridEP copies what arrived,
// and a single expert needs no order; DeepEP delivers outside of its buffers.
TEST(ExpertKernels, HybridEpCopiesTokensOutOfItsBufferAlsoForASingleExpert) {
  const std::string flex = "ep: 8, etp: 1, moe_token_dispatcher_type: flex, moe_flex_dispatcher_backend: ";
  KernelContext hybrid = context_of("mixtral-8x7b", flex + "hybridep", 8);
  ASSERT_EQ(hybrid.tokens(), 4096);
  for (const auto& [section, name] : {std::pair{LayerSection::kExpertSort, "sort by expert"},
                                      std::pair{LayerSection::kExpertUnsort, "sort by rank"}}) {
    EXPECT_EQ(find(section, hybrid, name).bytes, Bytes(4096 * 4 * 8192)) << name;
    EXPECT_THAT(kernels_of(section, context_of("mixtral-8x7b", flex + "deepep", 8)), testing::IsEmpty()) << name;
    EXPECT_THAT(kernels_of(section, context_of("mixtral-8x7b", "ep: 8, etp: 1", 8)), testing::IsEmpty()) << name;
  }
  hybrid.training.fused.permute = false;
  EXPECT_EQ(find(LayerSection::kExpertSort, hybrid, "dispatch buffer").bytes, Bytes(4096 * 4 * 8192));
  EXPECT_THAT(kernels_of(LayerSection::kExpertSort, hybrid), testing::SizeIs(1));
}

TEST(ExpertKernels, TensorParallelRanksShareALayersFlops) {
  for (const char* preset : {"mixtral-8x7b", "deepseek-v3"}) {
    const KernelContext context = context_of(preset, "tp: 4, sequence_parallel: true, ep: 2, etp: 4", 8);
    const std::int64_t layer = context.shape.layers - 1;
    const double formula = layer_forward_flops(context.shape, 1, AttentionCount::kFull, layer).count();
    EXPECT_NEAR(4.0 * flops_of(kForward, context).count() / formula, 1.0, 1e-12) << preset;
    EXPECT_NEAR(4.0 * flops_of(kBackward, context).count() / (2.0 * formula), 1.0, 1e-12) << preset;
  }
}

TEST(ExpertKernels, GemmsAreGroupedByExpert) {
  const KernelContext context = context_of("deepseek-v3", "ep: 8, etp: 1", 8);
  // 4096 tokens x 8 experts each; 32 experts on a rank get 1024 of them.
  const Kernel up = find(LayerSection::kExperts, context, "experts up");
  EXPECT_EQ(up.family, KernelFamily::kGroupedGemm);
  EXPECT_EQ(up.batch, 32);
  EXPECT_EQ(up.m, 1024);
  EXPECT_EQ(up.n, 2 * 2048);
  EXPECT_EQ(up.k, 7168);
  // Rows in and out, and the weights of all 32 experts, in two bytes.
  EXPECT_EQ(up.bytes, Bytes(2 * (32768LL * (7168 + 4096) + 32LL * 7168 * 4096)));
  const Kernel wgrad = find(LayerSection::kExpertsWgrad, context, "experts up wgrad");
  EXPECT_EQ(wgrad.role, GemmRole::kWgrad);
  EXPECT_EQ(wgrad.k, 1024);
  EXPECT_EQ(wgrad.flops.count(), up.flops.count());
}

// 32 experts on a rank: 32 kernels of 1024 rows each instead of one, with the same FLOPs and bytes; what is common to
// all experts stays one kernel.
TEST(ExpertKernels, WithoutGroupedGemmsEveryExpertHasKernelsOfItsOwn) {
  const KernelContext grouped = context_of("deepseek-v3", "ep: 8, etp: 1", 8);
  KernelContext sequential = grouped;
  sequential.training.fused.grouped_gemm = false;
  for (const auto& [section, name] :
       {std::pair{LayerSection::kExperts, "experts up"}, std::pair{LayerSection::kExperts, "experts swiglu"},
        std::pair{LayerSection::kExperts, "experts down"},
        std::pair{LayerSection::kExpertsBackward, "experts swiglu backward"},
        std::pair{LayerSection::kExpertsBackward, "experts down dgrad"},
        std::pair{LayerSection::kExpertsWgrad, "experts up wgrad"}}) {
    const Kernel all = find(section, grouped, name);
    const Kernel one = find(section, sequential, name);
    EXPECT_EQ(all.launches, 1) << name;
    EXPECT_EQ(one.launches, 32) << name;
    EXPECT_NE(one.family, KernelFamily::kGroupedGemm) << name;
    EXPECT_EQ(one.batch, 1) << name;
    EXPECT_EQ(one.m, all.m) << name;
    EXPECT_DOUBLE_EQ(32.0 * one.flops.count(), all.flops.count()) << name;
    EXPECT_EQ(32 * one.bytes.count(), all.bytes.count()) << name;
  }
  // 4096 x 8 rows of 7168 values in bf16, read and written.
  EXPECT_EQ(find(LayerSection::kExperts, sequential, "expert outputs joined").bytes, Bytes(4096LL * 8 * 7168 * 4));
  EXPECT_EQ(find(LayerSection::kExpertsBackward, sequential, "expert inputs backward: joined").bytes,
            Bytes(4096LL * 8 * 7168 * 4));
  EXPECT_EQ(find(LayerSection::kRouter, sequential, "router").launches, 1);
}

// The host reads how many tokens each expert has before it issues the experts' forward pass, unless they are padded to
// a capacity. A capacity alone leaves as many tokens as the routing does not drop (Megatron-LM, token_dispatcher.py).
TEST(ExpertKernels, AHostThatReadsTokensPerExpertHasNoLeadForThem) {
  const auto any_paced = [](LayerSection section, const KernelContext& context) {
    return std::ranges::any_of(kernels_of(section, context), &Kernel::host_paced);
  };
  const KernelContext read = context_of("deepseek-v3", "ep: 8, etp: 1", 8);
  EXPECT_TRUE(std::ranges::all_of(kernels_of(LayerSection::kExperts, read), &Kernel::host_paced));
  EXPECT_FALSE(any_paced(LayerSection::kExpertsBackward, read));
  EXPECT_FALSE(any_paced(LayerSection::kRouter, read));
  const std::string dropping = "ep: 8, etp: 1, moe_expert_capacity_factor: 1";
  EXPECT_TRUE(any_paced(LayerSection::kExperts, context_of("deepseek-v3", dropping, 8)));
  const KernelContext padded = context_of("deepseek-v3", dropping + ", moe_pad_expert_input_to_capacity: true", 8);
  EXPECT_FALSE(any_paced(LayerSection::kExperts, padded));
}

TEST(ExpertKernels, OneExpertOnARankNeedsNoSorting) {
  EXPECT_EQ(kernels_of(LayerSection::kExpertSort, context_of("mixtral-8x7b", "ep: 8, etp: 1", 8)).size(), 0U);
  EXPECT_EQ(kernels_of(LayerSection::kExpertSort, context_of("mixtral-8x7b", "ep: 4, etp: 1", 8)).size(), 1U);
}

TEST(ExpertKernels, ARanksLoadScalesItsRows) {
  KernelContext context = context_of("mixtral-8x7b", "ep: 8, etp: 1", 8);
  const double rows = expert_rows(context);
  EXPECT_EQ(rows, 4096.0 * 2.0);
  context.expert_load = 1.5;
  EXPECT_EQ(expert_rows(context), 1.5 * rows);
}

// Bytes of the named kernels of a section.
double bytes_of(LayerSection section, const KernelContext& context, const std::string& part) {
  double total = 0.0;
  for (const Kernel& kernel : kernels_of(section, context)) {
    if (kernel.name.find(part) != std::string::npos) total += static_cast<double>(kernel.bytes.count());
  }
  return total;
}

// 4096 tokens, four experts each of 2880 values; bias, sum, join and cast in fp32: 4 + (2 + 8) + 8 + 6 bytes of each
// value forward. Backward 6 for the fp32 gradient, 6 for its cast, 12 each for the gradients of bias and weights, and 4
// for the join.
TEST(ExpertKernels, AWeightedBiasIsAddedInFp32) {
  const KernelContext context = context_of("gpt-oss-120b", "ep: 8", 8);
  const double values = 4096.0 * 4.0 * 2880.0;
  EXPECT_EQ(bytes_of(LayerSection::kExperts, context, "expert bias") +
                bytes_of(LayerSection::kExperts, context, "expert outputs"),
            28.0 * values);
  EXPECT_EQ(bytes_of(LayerSection::kExpertsBackward, context, "expert bias") +
                bytes_of(LayerSection::kExpertsBackward, context, "expert weight") +
                bytes_of(LayerSection::kExpertsBackward, context, "expert outputs"),
            40.0 * values);
  EXPECT_EQ(bytes_of(LayerSection::kExperts, context_of("qwen3-30b-a3b", "ep: 8", 8), "expert bias"), 0.0);
}

// 4096 tokens, eight experts each, hidden size 2048, width 768, in bf16: inputs of both GEMMs and of the activation,
// (2048 + 768 + 2 * 768) values of a row, read and written in each pass.
TEST(ExpertKernels, APagedStashCopiesWhatTheExpertsStore) {
  const KernelContext context = context_of("qwen3-30b-a3b", "ep: 8, moe_paged_stash: true", 8);
  const double bytes = 2.0 * 2.0 * (2048.0 + 768.0 + 2.0 * 768.0) * 4096.0 * 8.0;
  EXPECT_EQ(bytes_of(LayerSection::kExperts, context, "experts to stash"), bytes);
  EXPECT_EQ(bytes_of(LayerSection::kExpertsBackward, context, "experts from stash"), bytes);
  EXPECT_EQ(bytes_of(LayerSection::kExperts, context_of("qwen3-30b-a3b", "ep: 8", 8), "stash"), 0.0);
}

TEST(ExpertKernels, AStashIsCopiedWhileOtherKernelsRun) {
  const KernelContext context = context_of("qwen3-30b-a3b", "ep: 8, moe_paged_stash: true", 8);
  EXPECT_TRUE(find(LayerSection::kExperts, context, "experts to stash").concurrent);
  EXPECT_TRUE(find(LayerSection::kExpertsBackward, context, "experts from stash").concurrent);
  EXPECT_FALSE(find(LayerSection::kExperts, context, "experts up").concurrent);
}

// Tokens and results of the experts are read and written in bf16 by a copy each, forward and backward.
TEST(ExpertKernels, TokensOfNarrowGemmsArePaddedUnlessTheirDispatchDoes) {
  KernelContext context = context_of("qwen3-30b-a3b", "ep: 8", 8);
  const auto padding = [&] {
    return bytes_of(LayerSection::kExperts, context, "padding") +
           bytes_of(LayerSection::kExpertsBackward, context, "padding");
  };
  EXPECT_EQ(padding(), 0.0);
  context.training.narrow = NarrowRecipe::kDelayed;
  EXPECT_EQ(padding(), 16.0 * 4096.0 * 8.0 * 2048.0);
  context.training.fused.grouped_mlp = true;
  EXPECT_EQ(padding(), 0.0);
  context.training.fused.grouped_mlp = false;
  context.experts.pad_to_capacity = true;
  EXPECT_EQ(padding(), 0.0);
  const std::string hybrid = "ep: 8, moe_token_dispatcher_type: flex, moe_flex_dispatcher_backend: hybridep";
  context = context_of("qwen3-30b-a3b", hybrid, 8);
  context.training.narrow = NarrowRecipe::kDelayed;
  EXPECT_EQ(padding(), 0.0);
}

TEST(ExpertKernels, AFusedGroupedMlpAddsTheBiasInItsGemms) {
  KernelContext context = context_of("gpt-oss-120b", "ep: 8", 8);
  context.training.fused.grouped_mlp = true;
  EXPECT_EQ(bytes_of(LayerSection::kExperts, context, "expert bias"), 0.0);
  EXPECT_EQ(bytes_of(LayerSection::kExpertsBackward, context, "expert bias"), 0.0);
}

// 4096 tokens, four experts each of 2880 values in bf16: clamps and join 16 bytes of each forward. Backward three masks
// of 2 + 1 bytes, one of both limits 3 x 1, two choices 2 + 2 + 1, and the join 8.
TEST(ExpertKernels, AClampedActivationIsClampedByOperatorsOfItsOwn) {
  KernelContext context = context_of("gpt-oss-120b", "ep: 8", 8);
  const double values = 4096.0 * 4.0 * 2880.0;
  EXPECT_EQ(bytes_of(LayerSection::kExperts, context, "experts clamp"), 16.0 * values);
  EXPECT_EQ(bytes_of(LayerSection::kExpertsBackward, context, "experts clamp"), (9.0 + 3.0 + 10.0 + 8.0) * values);
  EXPECT_EQ(bytes_of(LayerSection::kExperts, context_of("qwen3-30b-a3b", "ep: 8", 8), "experts clamp"), 0.0);
  const Bytes stored = layer_activations(context, {.mlp = MlpKind::kExperts});
  context.shape.experts->clamped = false;
  EXPECT_EQ(stored - layer_activations(context, {.mlp = MlpKind::kExperts}), Bytes(4096 * 4 * 2880 * 2 * 2));
  context.shape.experts->clamped = true;
  context.training.fused.grouped_mlp = true;
  EXPECT_EQ(bytes_of(LayerSection::kExperts, context, "experts clamp"), 0.0);
  EXPECT_EQ(bytes_of(LayerSection::kExpertsBackward, context, "experts clamp"), 0.0);
}

// bf16: eight h for norms and inputs, four ad + 4 kd + 4a for the attention, then for K rows of each token the input,
// gate, up and activation, and 4 E for the router's scores.
TEST(ExpertKernels, ALayerStoresItsRowsForTheBackwardPass) {
  const JobText job("model: {preset: mixtral-8x7b}\ntraining: {global_batch: 8}\nparallel: {ep: 8, etp: 1}\n", 8);
  const KernelContext context = make_kernel_context(job.shape, job.training, job.parallel);
  const std::int64_t attention = 8 * 4096 + 4 * 32 * 128 + 4 * 8 * 128 + 4 * 32;
  const std::int64_t experts = 2 * 2 * (4096 + 3 * 14336) + 4 * 8;
  EXPECT_EQ(layer_activations(context, {.mlp = MlpKind::kExperts}), Bytes(4096 * (attention + experts)));
}

}  // namespace
}  // namespace ringwright::workload::expert_kernels_test
