// Layers with fp8 GEMMs: which kernels change, what is quantised, what is stored.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"
#include "workload/kernels/layer_kernels.h"
#include "workload/memory/activations.h"

namespace ringwright::workload::fp8_test {
namespace {

using testing::ElementsAre;

KernelContext context_of(const std::string& model, const std::string& recipe) {
  const JobText job("model: {" + model + "}\ntraining: {global_batch: 8, fp8_recipe: " + recipe + "}\nparallel: {}\n",
                    1);
  EXPECT_THAT(job.problems(), testing::IsEmpty());
  return make_kernel_context(job.shape, job.training, job.parallel);
}

std::vector<std::string> names_of(LayerSection section, const KernelContext& context, DataType type) {
  std::vector<std::string> names;
  for (const Kernel& kernel : kernels_of(section, context)) {
    if (kernel.type == type) names.push_back(kernel.name);
  }
  return names;
}

TEST(Fp8, LinearLayersAreInFp8AndTheAttentionCoreIsNot) {
  const KernelContext context = context_of("preset: llama3-8b", "delayed");
  EXPECT_THAT(names_of(LayerSection::kAttention, context, DataType::kFp8),
              ElementsAre("quantise", "qkv", "quantise", "attention projection"));
  EXPECT_THAT(names_of(LayerSection::kAttention, context, DataType::kBf16),
              ElementsAre("rotary embedding", "attention"));
}

TEST(Fp8, LogitsAndRouterKeepTheirPrecision) {
  const KernelContext context = context_of("preset: mixtral-8x7b", "blockwise");
  EXPECT_THAT(names_of(LayerSection::kLogits, context, DataType::kFp8), ElementsAre());
  EXPECT_THAT(names_of(LayerSection::kRouter, context, DataType::kFp8), ElementsAre());
  EXPECT_THAT(names_of(LayerSection::kExperts, context, DataType::kFp8),
              ElementsAre("quantise", "experts up", "quantise", "experts down"));
}

TEST(Fp8, AGemmReadsOneByteAndWritesTwo) {
  const KernelContext context = context_of("preset: llama3-8b", "delayed");
  const std::vector<Kernel> kernels = kernels_of(LayerSection::kMlp, context);
  const auto up = std::ranges::find(kernels, "mlp up", &Kernel::name);
  // 8192 tokens, 4096 channels in, 2 x 14336 out.
  EXPECT_EQ(up->bytes, Bytes(8192LL * 4096 + 4096LL * 28672 + 2 * 8192LL * 28672));
}

TEST(Fp8, RecipesDifferInWhatTheyTouch) {
  const auto quantised = [](const char* recipe) {
    const std::vector<Kernel> kernels = kernels_of(LayerSection::kQkv, context_of("preset: llama3-8b", recipe));
    return static_cast<double>(kernels.front().bytes.count()) / (8192.0 * 4096.0);
  };
  EXPECT_EQ(quantised("delayed"), 4.0);     // two bytes read, two of one byte written
  EXPECT_EQ(quantised("rowwise"), 10.0);    // twice: read for the maxima, read again, written
  EXPECT_EQ(quantised("tensorwise"), 6.0);  // and read once more for the maximum
  EXPECT_EQ(quantised("blockwise"), 4.0 + 8.0 / 128.0);
  EXPECT_EQ(quantised("mxfp8"), 4.0 + 2.0 / 32.0);
}

// Of 8192 tokens each of two ranks casts 4096, and transposes the gathered input for the weight gradient.
TEST(Fp8, PartsOfTheSequenceAreCastBeforeTheyAreGathered) {
  const auto casts = [](const std::string& recipe) {
    const JobText job("model: {preset: llama3-8b}\ntraining: {global_batch: 8, fp8_gather: true, fp8_recipe: " +
                          recipe + "}\nparallel: {tp: 2, sequence_parallel: true}\n",
                      2);
    EXPECT_THAT(job.problems(), testing::IsEmpty());
    const KernelContext context = make_kernel_context(job.shape, job.training, job.parallel);
    std::vector<double> bytes;  // per value of the section
    for (const Kernel& kernel : kernels_of(LayerSection::kQkv, context)) {
      if (kernel.family == KernelFamily::kCast) {
        bytes.push_back(static_cast<double>(kernel.bytes.count()) / (4096.0 * 4096.0));
      }
    }
    return bytes;
  };
  // A section in both layouts is four extra bytes; read and written whole, minus the one written before.
  EXPECT_THAT(casts("delayed"), ElementsAre(4.0, 2.0 + 1.0));
  EXPECT_THAT(casts("tensorwise"), ElementsAre(6.0, 2.0 + 1.0));
  EXPECT_THAT(casts("mxfp8"), ElementsAre(4.0 + 2.0 / 32.0));  // both layouts are gathered
}

TEST(Fp8, GathersWithoutNarrowTypesAreReported) {
  const auto problems = [](const std::string& recipe, const std::string& parallel) {
    return JobText("model: {preset: llama3-8b}\ntraining: {global_batch: 8, fp8_gather: true, fp8_recipe: " + recipe +
                       "}\nparallel: {tp: 2" + parallel + "}\n",
                   2)
        .problems();
  };
  EXPECT_THAT(problems("none", ", sequence_parallel: true"),
              ElementsAre("W131: training.fp8_gather has no effect: no GEMM is computed in fp8 or fp4"));
  EXPECT_THAT(problems("rowwise", ", sequence_parallel: true"),
              ElementsAre("W131: training.fp8_gather has no effect: with one scale per row the input is cast again "
                          "for every GEMM"));
  EXPECT_THAT(problems("delayed", ""),
              ElementsAre("W131: training.fp8_gather has no effect: parallel.sequence_parallel is off"));
}

TEST(Fp8, TheFusedGroupedMlpNeedsGroupedGemms) {
  const JobText job(
      "model: {preset: mixtral-8x7b}\n"
      "training: {global_batch: 8, fp8_recipe: mxfp8, use_transformer_engine_op_fuser: true, moe_grouped_gemm: false}\n"
      "parallel: {ep: 8, etp: 1}\n",
      8);
  EXPECT_THAT(job.problems(), ElementsAre("W131: training.use_transformer_engine_op_fuser has no effect: "
                                          "training.moe_grouped_gemm is false"));
  EXPECT_FALSE(job.training.fused.grouped_mlp);
  const JobText dense(
      "model: {preset: llama3-8b}\ntraining: {global_batch: 8, fp8_recipe: mxfp8, "
      "use_transformer_engine_op_fuser: true, moe_grouped_gemm: false}\n",
      8);
  EXPECT_THAT(dense.problems(), testing::IsEmpty()) << "its SwiGLU writes fp8";
}

// The inputs of four linear layers take one byte, but the core's result is stored in both types: 2h and f less, ad
// more.
TEST(Fp8, InputsOfLinearLayersAreStoredInOneByte) {
  const Bytes wide = layer_activations(context_of("preset: llama3-8b", "none"));
  const Bytes narrow = layer_activations(context_of("preset: llama3-8b", "delayed"));
  EXPECT_EQ(wide - narrow, Bytes(8192LL * (2 * 4096 + 14336 - 4096)));
}

TEST(Fp8, AGpuWithoutItIsRefused) {
  ConfigDocument document =
      ConfigDocument::load_text("job.yaml", "training: {global_batch: 1, fp8_recipe: delayed}\n").value();
  ConfigMap training = document.root().map("training", "the training");
  GpuSpec gpu;
  gpu.name = "A100";
  gpu.peak[static_cast<std::size_t>(DataType::kBf16)] = FlopRate(312e12);
  check_precision(training, read_training_options(training), gpu);
  ASSERT_EQ(document.log().diagnostics().all().size(), 1U);
  EXPECT_EQ(document.log().diagnostics().all()[0].code, "E135");
}

// Its tensor cores have fp8, but no scale for every 32 values.
TEST(Fp8, Mxfp8NeedsBlackwell) {
  const auto problems = [](const std::string& recipe, double capability) {
    ConfigDocument document =
        ConfigDocument::load_text("job.yaml", "training: {global_batch: 1, fp8_recipe: " + recipe + "}\n").value();
    ConfigMap training = document.root().map("training", "the training");
    GpuSpec gpu;
    gpu.name = "GPU";
    gpu.compute_capability = capability;
    gpu.peak[static_cast<std::size_t>(DataType::kBf16)] = FlopRate(989e12);
    gpu.peak[static_cast<std::size_t>(DataType::kFp8)] = FlopRate(1979e12);
    check_precision(training, read_training_options(training), gpu);
    return document.log().diagnostics().error_count();
  };
  EXPECT_EQ(problems("mxfp8", 9.0), 1U);
  EXPECT_EQ(problems("blockwise", 9.0), 0U);
  EXPECT_EQ(problems("mxfp8", 10.0), 0U);
  EXPECT_EQ(problems("mxfp8", 0.0), 0U);  // not known
}

// CDNA 3 has fp8 without block scales; CDNA 4 has MXFP8 and MXFP4, but no scales of 16 values.
TEST(Fp8, MatrixCoresOfAmdScaleBlocksFromCdna4On) {
  const auto problems = [](const std::string& recipe, double fp4) {
    ConfigDocument document =
        ConfigDocument::load_text("job.yaml", "training: {global_batch: 1, " + recipe + "}\n").value();
    ConfigMap training = document.root().map("training", "the training");
    GpuSpec gpu;
    gpu.name = "GPU";
    gpu.nvidia = false;
    gpu.peak[static_cast<std::size_t>(DataType::kBf16)] = FlopRate(1300e12);
    gpu.peak[static_cast<std::size_t>(DataType::kFp8)] = FlopRate(2600e12);
    gpu.peak[static_cast<std::size_t>(DataType::kFp4)] = FlopRate(fp4);
    check_precision(training, read_training_options(training), gpu);
    return document.log().diagnostics().error_count();
  };
  EXPECT_EQ(problems("fp8_recipe: mxfp8", 0.0), 1U);
  EXPECT_EQ(problems("fp8_recipe: delayed", 0.0), 0U);
  EXPECT_EQ(problems("fp8_recipe: mxfp8", 1e16), 0U);
  EXPECT_EQ(problems("fp4_recipe: mxfp4", 1e16), 0U);
  EXPECT_EQ(problems("fp4_recipe: nvfp4", 1e16), 1U);
}

}  // namespace
}  // namespace ringwright::workload::fp8_test
