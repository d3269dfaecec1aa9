// GEMMs in fp4 and fp8, and the types of the optimizer state: kernels, memory, GPU requirements.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"
#include "workload/kernels/layer_kernels.h"
#include "workload/memory/activations.h"
#include "workload/memory/memory.h"

namespace ringwright::workload::narrow_types_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

JobText job(const std::string& training, const std::string& model = "preset: llama3-8b",
            const std::string& parallel = "", std::int64_t ranks = 1) {
  return JobText(
      "model: {" + model + "}\ntraining: {global_batch: 8, " + training + "}\nparallel: {" + parallel + "}\n", ranks);
}
KernelContext context_of(const std::string& training, const std::string& model = "preset: llama3-8b") {
  const JobText asked = job(training, model);
  EXPECT_THAT(asked.problems(), IsEmpty());
  return make_kernel_context(asked.shape, asked.training, asked.parallel);
}

std::vector<std::string> in_fp4(LayerSection section, const KernelContext& context) {
  std::vector<std::string> names;
  for (const Kernel& kernel : kernels_of(section, context)) {
    if (kernel.type == DataType::kFp4) names.push_back(kernel.name);
  }
  return names;
}

TEST(NarrowTypes, AllThreeGemmsOfALinearLayerAreInFp4) {
  const KernelContext context = context_of("fp4_recipe: nvfp4");
  EXPECT_THAT(in_fp4(LayerSection::kMlp, context), ElementsAre("quantise", "mlp up", "quantise", "mlp down"));
  EXPECT_THAT(in_fp4(LayerSection::kMlpUpDgrad, context), ElementsAre("quantise", "mlp up dgrad"));
  EXPECT_THAT(in_fp4(LayerSection::kMlpUpWgrad, context), ElementsAre("mlp up wgrad"));
}

TEST(NarrowTypes, CoreLogitsAndRouterKeepTheirPrecision) {
  const KernelContext context = context_of("fp4_recipe: nvfp4", "preset: mixtral-8x7b");
  EXPECT_THAT(in_fp4(LayerSection::kCore, context), IsEmpty());
  EXPECT_THAT(in_fp4(LayerSection::kLogits, context), IsEmpty());
  EXPECT_THAT(in_fp4(LayerSection::kRouter, context), IsEmpty());
  EXPECT_THAT(in_fp4(LayerSection::kExperts, context),
              ElementsAre("quantise", "experts up", "quantise", "experts down"));
}

// 8192 tokens, 4096 channels in, 2 x 14336 out: half a byte read, two written.
TEST(NarrowTypes, AGemmReadsHalfAByteAndWritesTwo) {
  const Kernel up = kernels_of(LayerSection::kMlp, context_of("fp4_recipe: mxfp4"))[1];
  EXPECT_EQ(up.bytes, Bytes((8192LL * 4096 + 4096LL * 28672) / 2 + 2 * 8192LL * 28672));
}

TEST(NarrowTypes, RecipesDifferInWhatTheyTouch) {
  const auto each = [](const char* recipe) {
    const std::vector<Kernel> kernels = kernels_of(LayerSection::kQkv, context_of(recipe));
    return static_cast<double>(kernels.front().bytes.count()) / (8192.0 * 4096.0);
  };
  EXPECT_EQ(each("fp4_recipe: nvfp4"), 2.0 + 2.0 + 2 * 0.5 + 2.0 / 16.0);  // the maximum first, a scale for 16 values
  EXPECT_EQ(each("fp4_recipe: mxfp4"), 2.0 + 2 * 0.5 + 2.0 / 32.0);
}

// As in fp8 (Fp8.InputsOfLinearLayersAreStoredInOneByte): two inputs of h, one of f and a copy of the core's result, in
// 0.5 and a sixteenth of a byte.
TEST(NarrowTypes, InputsOfLinearLayersAreStoredInFp4WithTheirScales) {
  const Bytes wide = layer_activations(context_of("fp4_recipe: none"));
  const Bytes narrow = layer_activations(context_of("fp4_recipe: nvfp4"));
  const double value = 0.5 + 1.0 / 16.0;
  EXPECT_EQ((wide - narrow).count(),
            static_cast<std::int64_t>(8192.0 * ((2.0 - value) * (2 * 4096 + 14336) - value * 4096)));
}

TEST(NarrowTypes, OneRecipeAtATime) {
  EXPECT_THAT(
      job("fp4_recipe: nvfp4, fp8_recipe: delayed").problems(),
      ElementsAre("E141: training.fp4_recipe = nvfp4 and training.fp8_recipe = delayed (job.yaml:2) both set the type "
                  "of GEMMs | remove one of them"));
}

std::vector<std::string> messages_on(const std::string& training, DataType peak) {
  ConfigDocument document =
      ConfigDocument::load_text("job.yaml", "training: {global_batch: 1, " + training + "}\n").value();
  ConfigMap map = document.root().map("training", "the training");
  GpuSpec gpu;
  gpu.name = "GPU";
  gpu.peak[static_cast<std::size_t>(DataType::kBf16)] = FlopRate(1e15);
  gpu.peak[static_cast<std::size_t>(peak)] = FlopRate(1e15);
  check_precision(map, read_training_options(map), gpu);
  std::vector<std::string> messages;
  for (const Diagnostic& diagnostic : document.log().diagnostics().all()) messages.push_back(diagnostic.message);
  return messages;
}

TEST(NarrowTypes, AGpuWithoutFp4IsRefused) {
  EXPECT_THAT(messages_on("fp4_recipe: nvfp4", DataType::kFp4), IsEmpty());
  EXPECT_THAT(messages_on("fp4_recipe: nvfp4", DataType::kFp8),
              ElementsAre("training.fp4_recipe needs fp4, which GPU does not have (cluster.node.gpu.peak)"));
}

// --- the optimizer's state ---

std::int64_t state_of_a_parameter(const std::string& training) {
  const JobText asked = job("grad_reduce_dtype: bf16" + training, "preset: llama3-8b", "zero: {stage: 1}", 8);
  EXPECT_THAT(asked.problems(), IsEmpty());
  const StageMemory memory = memory_ledger(asked.inputs(), {}).front();
  return memory.of("optimizer").count() * 8 / (memory.of("weights").count() / 2);
}

TEST(NarrowTypes, StatesTakeTheBytesOfTheirTypes) {
  EXPECT_EQ(state_of_a_parameter(""), 12);
  EXPECT_EQ(state_of_a_parameter(", exp_avg_dtype: bf16, exp_avg_sq_dtype: bf16"), 8);
  EXPECT_EQ(state_of_a_parameter(", exp_avg_dtype: fp8, exp_avg_sq_dtype: fp16, main_params_dtype: fp16"), 5);
}

// Read and written once each, plus a gradient in fp32, and a weight of two bytes where one kernel writes it as well.
TEST(NarrowTypes, AnUpdateTouchesTheState) {
  const auto adam = [](const std::string& training) {
    const JobText asked = job("micro_batch: 1" + training, "preset: llama3-8b");
    const StepPlan plan = asked.plan();
    for (const Work& work : plan.graph.works) {
      for (const Kernel& kernel : work.kernels) {
        if (kernel.name == "adam") return kernel.bytes.count() / plan.stage_parameters[0];
      }
    }
    return std::int64_t{0};
  };
  EXPECT_EQ(adam(""), 28);
  EXPECT_EQ(adam(", exp_avg_dtype: fp8, exp_avg_sq_dtype: fp8"), 2 * 6 + 4 + 2);
}

}  // namespace
}  // namespace ringwright::workload::narrow_types_test
