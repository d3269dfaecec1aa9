#include "workload/kernels/layer_kernels.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"
#include "workload/kernels/optimizer_kernels.h"

namespace ringwright::workload::layer_kernels_test {
namespace {

KernelContext context_of(const std::string& model, const std::string& training, const std::string& parallel,
                         std::int64_t ranks) {
  const JobText job("model: {" + model + "}\ntraining: {global_batch: 16, micro_batch: 2" + training +
                        "}\nparallel: {" + parallel + "}\n",
                    ranks);
  EXPECT_THAT(job.problems(), testing::IsEmpty());
  return make_kernel_context(job.shape, job.training, job.parallel);
}

const std::vector<LayerSection> kForward{
    LayerSection::kAttentionNorm, LayerSection::kAttention, LayerSection::kAttentionResidual,
    LayerSection::kMlpNorm,       LayerSection::kMlp,       LayerSection::kMlpResidual};
const std::vector<LayerSection> kBackward{
    LayerSection::kMlpResidualBackward,  LayerSection::kMlpDownBackward, LayerSection::kMlpUpDgrad,
    LayerSection::kMlpUpWgrad,           LayerSection::kMlpNormBackward, LayerSection::kAttentionResidualBackward,
    LayerSection::kAttentionBackward,    LayerSection::kQkvDgrad,        LayerSection::kQkvWgrad,
    LayerSection::kAttentionNormBackward};

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

// Of a GEMM k x m by k x n: operands and result. Fused, the result is read and written in the gradients' type; else
// written in the working type, and added by kernels of their own.
TEST(LayerKernels, WeightGradientsAreAddedInTheGemmOrByKernelsOfTheirOwn) {
  const std::string model = "preset: llama3-8b";
  const auto of = [&](const std::string& training) { return context_of(model, ", " + training, "tp: 1", 1); };
  const double weight = 4096.0 * 14336.0;  // of the MLP's down GEMM
  const double operands = 2.0 * 2.0 * 8192.0 * (4096.0 + 14336.0);
  const auto bytes = [](const KernelContext& context, const std::string& name) {
    return static_cast<double>(find(LayerSection::kMlpDownBackward, context, name).bytes.count());
  };
  EXPECT_DOUBLE_EQ(bytes(of("gradient_accumulation: fused"), "mlp down wgrad"), operands + 8.0 * weight);
  const KernelContext separate = of("gradient_accumulation: separate");
  EXPECT_DOUBLE_EQ(bytes(separate, "mlp down wgrad"), operands + 2.0 * weight);
  EXPECT_DOUBLE_EQ(bytes(separate, "mlp down wgrad sum"), (2.0 + 4.0 + 4.0) * weight);
  const KernelContext half = of("gradient_accumulation: separate, grad_reduce_dtype: bf16");
  EXPECT_DOUBLE_EQ(bytes(half, "mlp down wgrad sum"), (2.0 + 2.0 + 2.0) * weight);
  const KernelContext copied = of("gradient_accumulation: copied");
  EXPECT_DOUBLE_EQ(bytes(copied, "mlp down wgrad to fp32"), (2.0 + 4.0) * weight);
  EXPECT_DOUBLE_EQ(bytes(copied, "mlp down wgrad sum"), (4.0 + 4.0 + 4.0) * weight);
}

TEST(LayerKernels, GradientsOfExpertsAreAddedLikeOthers) {
  const std::string parallel = "tp: 1, ep: 2";
  const KernelContext fused = context_of("preset: mixtral-8x7b", "", parallel, 2);
  const KernelContext separate = context_of("preset: mixtral-8x7b", ", gradient_accumulation: separate", parallel, 2);
  EXPECT_EQ(kernels_of(LayerSection::kExpertsWgrad, separate).size(),
            2 * kernels_of(LayerSection::kExpertsWgrad, fused).size());
}

TEST(LayerKernels, UnfusedLayersHaveExactlyTheFormulasFlops) {
  for (const int tp : {1, 2, 8}) {
    const KernelContext context =
        context_of("preset: llama3-8b", ", attention: unfused", fmt::format("tp: {}", tp), tp);
    const Flops formula = layer_forward_flops(context.shape, 2, AttentionCount::kFull);
    EXPECT_EQ((flops_of(kForward, context) * static_cast<double>(tp)).count(), formula.count()) << tp;
    EXPECT_EQ((flops_of(kBackward, context) * static_cast<double>(tp)).count(), (formula * 2.0).count()) << tp;
  }
}

// torchtitan saves every second GEMM of a layer: queries, values, up and down are saved; keys, projection and gate are
// recomputed, in addition to both norms. Per token 2 h (key + context + ffn) FLOPs.
TEST(LayerKernels, SelectiveOperatorsComputeEverySecondGemmAgain) {
  const KernelContext none = context_of("preset: llama3-8b", "", "tp: 1", 1);
  const KernelContext some = context_of("preset: llama3-8b", ", recompute: selective-ops", "tp: 1", 1);
  const double tokens = 2.0 * 8192.0;
  const double again = 2.0 * tokens * 4096.0 * (8 * 128 + 4096 + 14336);
  EXPECT_EQ((flops_of(kBackward, some) - flops_of(kBackward, none)).count(), again);
  EXPECT_EQ(flops_of(kForward, some).count(), flops_of(kForward, none).count());
}

// JAX does not recompute the down GEMM: nothing reads it. Per token 2 h FLOPs for each column that was not saved; with
// queries, keys and values saved, projection (4096), both up GEMMs and the core remain.
TEST(LayerKernels, WhatIsNotSavedIsComputedAgainUnlessNothingReadsIt) {
  const KernelContext none = context_of("preset: llama3-8b", "", "tp: 1", 1);
  const auto again = [&](const std::string& saves) {
    const KernelContext some =
        context_of("preset: llama3-8b", ", recompute: except-saved, recompute_saves: [" + saves + "]", "tp: 1", 1);
    EXPECT_EQ(flops_of(kForward, some).count(), flops_of(kForward, none).count());
    return (flops_of(kBackward, some) - flops_of(kBackward, none)).count();
  };
  const double column = 2.0 * 2.0 * 8192.0 * 4096.0;
  EXPECT_EQ(again("qkv, core_attn, proj, mlp_up"), 0.0);
  EXPECT_EQ(again("qkv, core_attn, mlp_up"), column * 4096);
  EXPECT_EQ(again("qkv, core_attn"), column * (4096 + 2 * 14336));
  EXPECT_EQ(again("core_attn, proj, mlp_up"), column * (4096 + 2 * 1024));
  EXPECT_GT(again("qkv, proj, mlp_up"), 0.0) << "the attention core";
}

// Queries, keys and values: 4096, 1024 and 1024 columns. Two sums of their gradients with respect to the input.
TEST(LayerKernels, SeparateProjectionsAreGemmsOfTheirOwnWithTheSameFlops) {
  const KernelContext fused = context_of("preset: llama3-8b", "", "tp: 1", 1);
  const KernelContext separate = context_of("preset: llama3-8b", ", projections: separate", "tp: 1", 1);
  EXPECT_EQ(kernels_of(LayerSection::kQkvWgrad, fused).size(), 1U);
  EXPECT_EQ(kernels_of(LayerSection::kQkvWgrad, separate).size(), 3U);
  EXPECT_EQ(kernels_of(LayerSection::kQkvWgrad, separate)[1].n, 1024);
  EXPECT_EQ(kernels_of(LayerSection::kQkvDgrad, separate).size(), 3U + 2U);
  EXPECT_EQ(kernels_of(LayerSection::kMlpUpDgrad, separate).size(), 2U + 1U);
  EXPECT_EQ(flops_of(kForward, separate).count(), flops_of(kForward, fused).count());
  EXPECT_EQ(flops_of(kBackward, separate).count(), flops_of(kBackward, fused).count());
}

TEST(LayerKernels, AnMlpWithoutAGateAlwaysHasOneUpGemm) {
  const KernelContext separate = context_of("preset: mpt-7b", ", projections: separate", "tp: 1", 1);
  EXPECT_EQ(kernels_of(LayerSection::kMlpUpWgrad, separate).size(), 1U);
}

TEST(LayerKernels, GemmsSayWhichOfALayersThreeTheyAre) {
  const KernelContext context = context_of("preset: llama3-8b", "", "tp: 4", 4);
  EXPECT_EQ(find(LayerSection::kMlp, context, "mlp up").role, GemmRole::kForward);
  EXPECT_EQ(find(LayerSection::kMlpUpDgrad, context, "mlp up dgrad").role, GemmRole::kDgrad);
  EXPECT_EQ(find(LayerSection::kMlpUpWgrad, context, "mlp up wgrad").role, GemmRole::kWgrad);
  EXPECT_EQ(find(LayerSection::kAttention, context, "attention").mask, AttentionMask::kCausal);
}

TEST(LayerKernels, FusedAttentionSkipsHalfOfTheScoresAndRepeatsThemBackward) {
  const KernelContext context = context_of("preset: llama3-8b", "", "tp: 4", 4);
  const Flops formula = layer_forward_flops(context.shape, 2, AttentionCount::kCausal);
  const Flops core = attention_core_flops(context.shape, 2, AttentionCount::kCausal);
  EXPECT_EQ((flops_of(kForward, context) * 4.0).count(), formula.count());
  EXPECT_EQ((flops_of(kBackward, context) * 4.0).count(), (formula * 2.0 + core * 0.5).count());
}

TEST(LayerKernels, GemmsHaveTheShapesOfMegatron) {
  const KernelContext context = context_of("preset: llama3.1-405b", "", "tp: 8", 8);
  const Kernel qkv = find(LayerSection::kAttention, context, "qkv");
  EXPECT_EQ(qkv.m, 2 * 8192);
  EXPECT_EQ(qkv.n, 16 * 128 + 2 * 128);  // 16 heads, one key and one value head
  EXPECT_EQ(qkv.k, 16384);
  const Kernel up = find(LayerSection::kMlp, context, "mlp up");
  EXPECT_EQ(up.n, 2 * 53248 / 8);
  const Kernel wgrad = find(LayerSection::kMlpUpWgrad, context, "mlp up wgrad");
  EXPECT_EQ(wgrad.m, 16384);
  EXPECT_EQ(wgrad.n, up.n);
  EXPECT_EQ(wgrad.k, qkv.m);
  // Inputs and outputs once in two bytes; the fp32 main gradient read and written.
  EXPECT_EQ(wgrad.bytes, Bytes(std::int64_t{2} * 16384 * (16384 + up.n) + 8 * 16384 * up.n));
}

TEST(LayerKernels, SequenceParallelismSplitsNormsAndResiduals) {
  const KernelContext whole = context_of("preset: llama3-8b", "", "tp: 8", 8);
  const KernelContext split = context_of("preset: llama3-8b", "", "tp: 8, sequence_parallel: true", 8);
  for (const LayerSection section : {LayerSection::kAttentionNorm, LayerSection::kMlpResidual, LayerSection::kFinalNorm,
                                     LayerSection::kMlpNormBackward}) {
    EXPECT_EQ(kernels_of(section, whole).front().bytes, kernels_of(section, split).front().bytes * 8);
  }
  EXPECT_EQ(find(LayerSection::kMlp, whole, "mlp up").bytes, find(LayerSection::kMlp, split, "mlp up").bytes);
}

TEST(LayerKernels, UnfusedAttentionMovesTheScoreMatrix) {
  const KernelContext context = context_of("preset: gpt3-175b", ", attention: unfused", "tp: 8", 8);
  // 2 sequences x 12 heads x 2048^2 scores; softmax reads and writes two bytes each, dropout also writes a mask.
  const std::int64_t scores = 2 * 12 * 2048 * 2048;
  EXPECT_EQ(find(LayerSection::kAttention, context, "attention softmax").bytes, Bytes(scores * 4));
  EXPECT_EQ(find(LayerSection::kAttention, context, "attention dropout").bytes, Bytes(scores * 5));
  EXPECT_EQ(find(LayerSection::kAttentionBackward, context, "attention softmax backward").bytes, Bytes(scores * 6));
}

// 96 heads over 32 ranks: 3 of each of 2 sequences do not divide by four. A cast, a scale, a mask, the softmax and a
// cast in each direction instead of one kernel.
TEST(LayerKernels, TheFusedSoftmaxNeedsFourScoreMatricesAtATime) {
  const KernelContext fits = context_of("preset: gpt3-175b", ", attention: unfused", "tp: 16", 16);
  const KernelContext odd = context_of("preset: gpt3-175b", ", attention: unfused", "tp: 32", 32);
  EXPECT_EQ(kernels_of(LayerSection::kCore, odd).size(), kernels_of(LayerSection::kCore, fits).size() + 4);
  EXPECT_EQ(kernels_of(LayerSection::kCoreBackward, odd).size(),
            kernels_of(LayerSection::kCoreBackward, fits).size() + 4);
  const std::int64_t scores = 2 * 3 * 2048 * 2048;
  EXPECT_EQ(find(LayerSection::kCore, odd, "attention softmax").bytes, Bytes(scores * 8));
}

TEST(LayerKernels, SelectiveRecomputationRepeatsTheCoreInTheBackwardPass) {
  const KernelContext none = context_of("preset: llama3-8b", "", "tp: 1", 1);
  const KernelContext selective = context_of("preset: llama3-8b", ", recompute: selective", "tp: 1", 1);
  const Flops core = attention_core_flops(none.shape, 2, AttentionCount::kCausal);
  EXPECT_EQ((flops_of(kBackward, selective) - flops_of(kBackward, none)).count(), core.count());
}

TEST(LayerKernels, BiasesHaveGradientsInTheHalfThatHasThem) {
  const KernelContext attention = context_of("preset: llama3-8b, bias: attention", "", "tp: 1", 1);
  const KernelContext mlp = context_of("preset: llama3-8b, bias: mlp", "", "tp: 1", 1);
  EXPECT_EQ(kernels_of(LayerSection::kAttentionResidualBackward, attention).size(), 1U);
  EXPECT_EQ(kernels_of(LayerSection::kMlpResidualBackward, attention).size(), 0U);
  EXPECT_EQ(kernels_of(LayerSection::kAttentionResidualBackward, mlp).size(), 0U);
  EXPECT_EQ(kernels_of(LayerSection::kMlpResidualBackward, mlp).size(), 1U);
}

TEST(LayerKernels, ModelsDifferInTheirSmallKernels) {
  const KernelContext llama = context_of("preset: llama3-8b", "", "tp: 1", 1);
  const KernelContext gpt = context_of("preset: gpt2-1.5b", "", "tp: 1", 1);
  const KernelContext qwen = context_of("preset: qwen3-32b", "", "tp: 1", 1);
  EXPECT_EQ(kernels_of(LayerSection::kMlpResidual, llama).front().name, "residual add");
  EXPECT_EQ(kernels_of(LayerSection::kMlpResidual, gpt).front().name, "bias dropout add");
  EXPECT_EQ(kernels_of(LayerSection::kMlpResidualBackward, llama).size(), 0U);
  EXPECT_EQ(kernels_of(LayerSection::kMlpResidualBackward, gpt).size(), 2U);  // dropout, bias gradient
  EXPECT_EQ(find(LayerSection::kAttention, qwen, "query and key norm").family, KernelFamily::kNorm);
  EXPECT_EQ(find(LayerSection::kEmbeddingFinish, gpt, "position embedding add").family, KernelFamily::kElementwise);
  EXPECT_EQ(kernels_of(LayerSection::kEmbeddingFinish, llama).size(), 0U);
}

TEST(LayerKernels, ASandwichHasANormOfEachResult) {
  const KernelContext plain = context_of("preset: llama3-8b", "", "tp: 1", 1);
  const KernelContext sandwich = context_of("preset: llama3-8b, sandwich_norm: true", "", "tp: 1", 1);
  const auto values = [](const Kernel& kernel) { return kernel.bytes.count() / 2; };
  const std::int64_t states = std::int64_t{2} * 8192 * 4096;
  for (const auto& [section, name] : {std::pair{LayerSection::kAttentionResidual, "attention output norm"},
                                      std::pair{LayerSection::kMlpResidual, "mlp output norm"}}) {
    EXPECT_EQ(kernels_of(section, sandwich).size(), kernels_of(section, plain).size() + 1);
    EXPECT_EQ(kernels_of(section, sandwich).front().name, name);  // before the residual
    EXPECT_EQ(values(kernels_of(section, sandwich).front()), 2 * states);
  }
  EXPECT_EQ(values(find(LayerSection::kAttentionResidualBackward, sandwich, "attention output norm backward")),
            3 * states);
  EXPECT_EQ(values(find(LayerSection::kMlpResidualBackward, sandwich, "mlp output norm backward")), 3 * states);
}

TEST(LayerKernels, LogitsUseThePaddedVocabulary) {
  const KernelContext context = context_of("preset: llama3-8b", "", "tp: 8", 8);
  EXPECT_EQ(find(LayerSection::kLogits, context, "logits").n, 129'024 / 8);
  EXPECT_EQ(find(LayerSection::kLogitsWgrad, context, "logits wgrad").n, 129'024 / 8);
  // Max, shift, exp, sum and division over fp32 logits, and their cast: 38 bytes each.
  std::int64_t bytes = 0;
  for (const LayerSection section :
       {LayerSection::kLossMax, LayerSection::kLossTarget, LayerSection::kLossSum, LayerSection::kLossFinish}) {
    for (const Kernel& kernel : kernels_of(section, context)) bytes += kernel.bytes.count();
  }
  EXPECT_EQ(bytes, std::int64_t{38} * 2 * 8192 * (129'024 / 8));
}

TEST(LayerKernels, AdamMoves28BytesPerParameter) {
  const KernelContext context = context_of("preset: llama3-8b", "", "tp: 1", 1);
  const std::vector<Kernel> kernels = optimizer_update(context, 1000, Updated::kCopies);
  ASSERT_EQ(kernels.size(), 3U);  // clipping, the update, the weights
  EXPECT_EQ(kernels[1].name, "adam");
  EXPECT_EQ(kernels[1].bytes, Bytes(28'000));
  EXPECT_EQ(gradient_norm(context, 1000, Updated::kCopies).front().bytes, Bytes(4'000));
  EXPECT_EQ(clear_gradients(context, 1000).front().bytes, Bytes(4'000));
  EXPECT_EQ(scale_gradients(context, 1000).front().bytes, Bytes(8'000));
}

}  // namespace
}  // namespace ringwright::workload::layer_kernels_test
