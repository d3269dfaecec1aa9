// Kernels that fusions leave out, and the bytes that remain: BERT large, whose GELU has four times as many values as
// its hidden state.
#include "workload/kernels/fusions.h"

#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"
#include "workload/memory/activations.h"

namespace ringwright::workload::fusions_test {
namespace {

using testing::ElementsAre;

constexpr double kHidden = 2.0 * 512.0 * 1024.0;

KernelContext context_of(const std::string& training, const std::string& model = "preset: bert-large") {
  const JobText job("model: {" + model + "}\ntraining: {global_batch: 2, micro_batch: 2" + training +
                        "}\nparallel: {}\n",
                    1);
  EXPECT_THAT(job.problems(), testing::IsEmpty());
  return make_kernel_context(job.shape, job.training, job.parallel);
}

std::vector<std::string> names(LayerSection section, const KernelContext& context) {
  std::vector<std::string> found;
  for (const Kernel& kernel : kernels_of(section, context)) found.push_back(kernel.name);
  return found;
}

// Of all kernels with that name, for each value of the hidden state.
double bytes_each(LayerSection section, const KernelContext& context, const std::string& name) {
  double bytes = 0.0;
  for (const Kernel& kernel : kernels_of(section, context)) {
    if (kernel.name == name) bytes += static_cast<double>(kernel.bytes.count());
  }
  return bytes / kHidden;
}

// The up GEMM writes its result before and after GELU; the down GEMM's dgrad reads the former, and writes its gradient.
TEST(Fusions, GeluIsInTheEpiloguesOfTheMlpsGemms) {
  const KernelContext apart = context_of(", precision: fp16");
  const KernelContext fused = context_of(", precision: fp16, gemm_gelu_fusion: true");
  EXPECT_THAT(names(LayerSection::kMlp, apart), ElementsAre("mlp up", "gelu", "mlp down"));
  EXPECT_THAT(names(LayerSection::kMlp, fused), ElementsAre("mlp up", "mlp down"));
  EXPECT_THAT(names(LayerSection::kMlpDownBackward, apart),
              ElementsAre("mlp down dgrad", "mlp down wgrad", "gelu backward", "mlp up bias gradient"));
  EXPECT_THAT(names(LayerSection::kMlpDownBackward, fused), ElementsAre("mlp down dgrad", "mlp down wgrad"));
  const auto more = [&](LayerSection section, const char* name) {
    return bytes_each(section, fused, name) - bytes_each(section, apart, name);
  };
  EXPECT_EQ(more(LayerSection::kMlp, "mlp up"), 4 * 2);
  EXPECT_EQ(more(LayerSection::kMlpDownBackward, "mlp down dgrad"), 4 * 2);
}

// Transformer Engine: the GEMM writes 2 bytes before GELU and fp8 after it, of which one kernel writes the transposed
// layout; the kernel of the gradient reads 2 + 2 and writes fp8 in both layouts.
TEST(Fusions, GeluWritesFp8WithDelayedScaling) {
  const KernelContext apart = context_of(", fp8_recipe: delayed");
  const KernelContext fused = context_of(", fp8_recipe: delayed, gemm_gelu_fusion: true");
  EXPECT_THAT(names(LayerSection::kMlp, apart), ElementsAre("quantise", "mlp up", "gelu", "quantise", "mlp down"));
  EXPECT_THAT(names(LayerSection::kMlp, fused), ElementsAre("quantise", "mlp up", "transpose", "mlp down"));
  EXPECT_EQ(bytes_each(LayerSection::kMlp, fused, "mlp up") - bytes_each(LayerSection::kMlp, apart, "mlp up"), 4 * 1);
  EXPECT_EQ(bytes_each(LayerSection::kMlp, fused, "transpose"), 4 * (1 + 1));
  EXPECT_EQ(bytes_each(LayerSection::kMlpDownBackward, fused, "gelu backward"), 4 * (2 + 2 + 1 + 1));
  EXPECT_THAT(names(LayerSection::kMlpUpDgrad, apart), ElementsAre("quantise", "mlp up dgrad"));
  EXPECT_THAT(names(LayerSection::kMlpUpDgrad, fused), ElementsAre("mlp up dgrad"));
  // Other recipes have no kernel that does both.
  const KernelContext blocks = context_of(", fp8_recipe: mxfp8, gemm_gelu_fusion: true");
  EXPECT_THAT(names(LayerSection::kMlp, blocks), ElementsAre("quantise", "mlp up", "quantise", "mlp down"));
}

TEST(Fusions, GradientsOfBiasesAreSummedInGemmsOrCasts) {
  const std::vector<LayerSection> sections{LayerSection::kMlpResidualBackward, LayerSection::kMlpDownBackward,
                                           LayerSection::kAttentionResidualBackward, LayerSection::kAttentionBackward};
  const auto sums = [&](const KernelContext& context) {
    std::vector<std::string> found;
    for (const LayerSection section : sections) {
      for (std::string& name : names(section, context)) {
        if (name.ends_with("bias gradient")) found.push_back(std::move(name));
      }
    }
    return found;
  };
  EXPECT_THAT(sums(context_of("")),
              ElementsAre("bias gradient", "mlp up bias gradient", "bias gradient", "qkv bias gradient"));
  EXPECT_THAT(sums(context_of(", gemm_bias_gradient_fusion: true")), testing::IsEmpty());
}

// Learned positions: the GEMM of queries, keys and values writes fp8, and so do attention and the projection's dgrad;
// only transposed layouts are left to write.
TEST(Fusions, AttentionAndLinearLayersPassEachOtherFp8) {
  const std::string in_fp8 = ", fp8_recipe: delayed, fp8_dot_product_attention: true";
  const KernelContext apart = context_of(in_fp8);
  const KernelContext fused = context_of(in_fp8 + ", fp8_multi_head_attention: true");
  EXPECT_THAT(names(LayerSection::kAttention, apart),
              ElementsAre("quantise", "qkv", "quantise", "attention", "quantise", "attention projection"));
  EXPECT_THAT(names(LayerSection::kAttention, fused),
              ElementsAre("quantise", "qkv", "attention", "transpose", "attention projection"));
  EXPECT_THAT(names(LayerSection::kQkvDgrad, fused), ElementsAre("transpose", "qkv dgrad"));
  EXPECT_EQ(bytes_each(LayerSection::kQkvDgrad, fused, "transpose"), 3 * (1 + 1));
  const auto saved = [&](LayerSection section, const char* name) {
    return bytes_each(section, apart, name) - bytes_each(section, fused, name);
  };
  EXPECT_EQ(saved(LayerSection::kAttention, "qkv"), 3);
  EXPECT_EQ(saved(LayerSection::kAttention, "attention"), 4);
  EXPECT_EQ(saved(LayerSection::kAttentionBackward, "attention backward"), 8);
  EXPECT_EQ(saved(LayerSection::kAttentionBackward, "attention projection dgrad"), 1);
  // Stored in fp8: queries, keys, values, and the result once instead of in two types.
  const LayerHalves halves = halves_of(fused.shape, 0);
  const Bytes less = layer_activations(apart, halves) - layer_activations(fused, halves);
  EXPECT_EQ(static_cast<double>(less.count()) / kHidden, (3 * 2 + 2 + 1) - 4);
}

// Rotated queries and keys are cast after the rotation; attention's result is not.
TEST(Fusions, RotatedQueriesAndKeysAreCastAfterTheRotation) {
  const KernelContext rotated =
      context_of(", fp8_recipe: tensorwise, fp8_dot_product_attention: true, fp8_multi_head_attention: true",
                 "num_layers: 2, hidden_size: 1024, num_attention_heads: 16, vocab_size: 30522, seq_length: 512");
  EXPECT_THAT(names(LayerSection::kAttention, rotated), ElementsAre("quantise", "qkv", "rotary embedding", "quantise",
                                                                    "attention", "transpose", "attention projection"));
  EXPECT_THAT(names(LayerSection::kQkvDgrad, rotated), ElementsAre("quantise", "qkv dgrad"));
}

// Unfused attention writes its result in the working type.
TEST(Fusions, UnfusedAttentionKeepsItsCasts) {
  const std::string unfused = ", fp8_recipe: delayed, fp8_dot_product_attention: true, attention: unfused";
  EXPECT_EQ(names(LayerSection::kAttention, context_of(unfused + ", fp8_multi_head_attention: true")),
            names(LayerSection::kAttention, context_of(unfused)));
}

// Without: two tensors of the hidden state are read and one is written by a kernel of its own. A norm before attention
// is part of the linear layer, except with latent attention.
TEST(Fusions, TheBackwardPassOfARmsnormAddsTheGradientOfTheResidualStream) {
  const auto all = [](const std::string& model, const char* training) {
    const KernelContext context = context_of(training, model);
    std::vector<std::string> found = names(LayerSection::kAttentionNormBackward, context);
    for (std::string& name : names(LayerSection::kMlpNormBackward, context)) found.push_back(std::move(name));
    return found;
  };
  const char* const fused = ", fused_residual_rmsnorm: true";
  const std::string latent = "preset: deepseek-v3";
  EXPECT_THAT(all(latent, fused),
              testing::IsSupersetOf({"attention norm and residual backward", "mlp norm and residual backward"}));
  EXPECT_THAT(all(latent, fused), testing::Not(testing::Contains("residual gradient")));
  EXPECT_THAT(all("preset: qwen3-30b-a3b", fused),
              testing::IsSupersetOf({"attention norm backward", "residual gradient",
                                     "mlp norm and residual backward"}));
  EXPECT_EQ(all("preset: llama3-8b", fused), all("preset: llama3-8b", ""));
  EXPECT_EQ(all("preset: bert-large", fused), all("preset: bert-large", ""));
}

TEST(Fusions, TheOutputLayerIsComputedInFp8WithFp8OutputProj) {
  const auto type = [](const char* more) {
    const KernelContext context = context_of(std::string(", fp8_recipe: mxfp8") + more, "preset: llama3-8b");
    const std::vector<Kernel> kernels = kernels_of(LayerSection::kLogits, context);
    return kernels.back().type;
  };
  EXPECT_EQ(type(""), DataType::kBf16);
  EXPECT_EQ(type(", fp8_output_proj: true"), DataType::kFp8);
}

TEST(Fusions, Fp8AttentionNeedsFp8Gemms) {
  const JobText job(
      "model: {preset: bert-large}\ntraining: {global_batch: 2, fp8_multi_head_attention: true}\nparallel: {}\n", 1);
  EXPECT_THAT(job.problems(), ElementsAre("W131: training.fp8_multi_head_attention has no effect: no GEMM is "
                                          "computed in fp8 or fp4"));
}

}  // namespace
}  // namespace ringwright::workload::fusions_test
