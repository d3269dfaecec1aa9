// Weights of GEMMs in fp8 and fp4: cast once for all microbatches of a step, stored with those of the working type.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"
#include "tests/workload/task_names.h"
#include "tests/workload/traffic.h"
#include "workload/kernels/optimizer_kernels.h"
#include "workload/layout/stage_chunks.h"
#include "workload/memory/memory.h"
#include "workload/options/narrow_types.h"

namespace ringwright::workload::cast_weights_test {
namespace {

// Of a layer with h 64, 4 key-value heads of 8, f 96: queries, keys and values, projection, gate and up, down.
constexpr std::int64_t kMatrices = 64 * (64 + 2 * 32) + 64 * 64 + 64 * 2 * 96 + 96 * 64;

std::string job(const std::string& training, const std::string& parallel = "{dp: 2, zero: {stage: 1}}") {
  return small_model(3) + "training: {global_batch: 4, " + training + "}\nparallel: " + parallel + "\n";
}

Bytes stored(const std::string& training, const std::string& parallel = "{dp: 2, zero: {stage: 1}}") {
  const JobText text(job(training, parallel), 2);
  return memory_ledger(text.inputs(), {}).front().of("cast weights");
}

TEST(CastWeights, BothLayoutsAreStored) {
  EXPECT_EQ(stored("fp8_recipe: none"), Bytes(0));
  EXPECT_EQ(stored("fp8_recipe: delayed"), Bytes(3 * kMatrices * 2));
  EXPECT_EQ(stored("fp4_recipe: nvfp4"), Bytes(3 * kMatrices * 2 * 9 / 16));  // half a byte, and a scale for 16
}

// Both layouts in fp8 alone are two bytes, as the working type; sharded weights are cast when they are gathered.
TEST(CastWeights, NothingIsAddedToWeightsInFp8OrInShards) {
  EXPECT_EQ(stored("fp8_recipe: delayed, fp8_param_gather: true"), Bytes(0));
  EXPECT_EQ(stored("fp8_recipe: delayed", "{dp: 2, zero: {stage: 3}}"), Bytes(0));
  EXPECT_EQ(stored("fp8_recipe: rowwise"), Bytes(0));  // cast for every GEMM
}

TEST(CastWeights, WeightsInFp4AloneNeedLess) {
  const auto weights = [](const std::string& training) {
    const JobText text(job(training), 2);
    return memory_ledger(text.inputs(), {}).front().of("weights");
  };
  EXPECT_EQ(weights("fp8_recipe: delayed, fp8_param_gather: true"), weights("fp8_recipe: delayed"));
  // Two bytes less twice 9/16 of one.
  EXPECT_EQ(weights("fp4_recipe: nvfp4") - weights("fp4_recipe: nvfp4, fp8_param_gather: true"),
            Bytes(3 * kMatrices * 14 / 16));
}

std::vector<Kernel> casts(const std::string& training) {
  const JobText text(job(training), 2);
  return cast_weights(make_kernel_context(text.shape, text.training, text.parallel), 1000, 10);
}

TEST(CastWeights, EachMatrixIsCastByKernelsOfItsOwn) {
  const std::vector<Kernel> delayed = casts("fp8_recipe: delayed");
  ASSERT_EQ(delayed.size(), 1U);
  EXPECT_EQ(delayed.front().launches, 10);
  EXPECT_EQ(delayed.front().bytes, Bytes(100 * 4));  // two read, one written in each layout
  // Transposed only; scales by 32 values differ between the layouts.
  EXPECT_EQ(casts("fp8_recipe: delayed, fp8_param_gather: true").front().bytes, Bytes(100 * 2));
  EXPECT_EQ(casts("fp8_recipe: mxfp8, fp8_param_gather: true").front().name, "cast weights");
}

// GPUs whose GEMMs read fp8 along either side need no transpose: one byte is written and stored.
TEST(CastWeights, OneLayoutIsEnoughWhereGemmsReadEither) {
  const auto one_layout = [](const std::string& training) {
    JobText text(job(training), 2);
    text.training.one_layout = true;
    return memory_ledger(text.inputs(), {}).front();
  };
  EXPECT_EQ(one_layout("fp8_recipe: delayed").of("cast weights"), Bytes(3 * kMatrices));
  EXPECT_EQ(one_layout("fp8_recipe: delayed").of("weights") -
                one_layout("fp8_recipe: delayed, fp8_param_gather: true").of("weights"),
            Bytes(3 * kMatrices));
  JobText text(job("fp8_recipe: delayed"), 2);
  text.training.one_layout = true;
  const KernelContext context = make_kernel_context(text.shape, text.training, text.parallel);
  EXPECT_EQ(cast_weights(context, 1000, 10).front().bytes, Bytes(100 * 3));
  text.training.narrow_parameters = true;
  EXPECT_TRUE(cast_weights(make_kernel_context(text.shape, text.training, text.parallel), 1000, 10).empty());
}

TEST(CastWeights, GemmsOfServersOfBlackwellReadEitherLayoutOfOneScale) {
  const auto takes = [](NarrowRecipe recipe, double capability) {
    GpuSpec gpu;
    gpu.compute_capability = capability;
    return takes_either_layout(recipe, gpu);
  };
  EXPECT_TRUE(takes(NarrowRecipe::kDelayed, 10.0));
  EXPECT_TRUE(takes(NarrowRecipe::kTensorwise, 10.3));
  EXPECT_FALSE(takes(NarrowRecipe::kMxfp8, 10.0));
  EXPECT_FALSE(takes(NarrowRecipe::kDelayed, 9.0));
  EXPECT_FALSE(takes(NarrowRecipe::kDelayed, 12.0));
}

// Kernels of the first stage's program, wherever it calls them.
std::int64_t casts_of_step(const std::string& training) {
  const StepPlan plan = JobText(job(training), 2).plan();
  std::int64_t count = 0;
  for (const Task& task : plan.graph.programs.front().tasks) {
    if (task.kind != TaskKind::kCompute) continue;
    for (const std::string& name : kernel_names(plan.graph, task)) count += name == "cast weights" ? 1 : 0;
  }
  return count;
}

// Two microbatches use one cast.
TEST(CastWeights, TheStepCastsThem) {
  EXPECT_EQ(casts_of_step("fp8_recipe: none"), 0);
  EXPECT_EQ(casts_of_step("fp8_recipe: delayed"), 1);
}

// The matrices' part of the gathered parameters has one byte instead of two; MXFP8 is cast from the working type.
TEST(CastWeights, ReplicasGatherFp8) {
  const auto gathered = [](const std::string& training) { return traffic(JobText(job(training), 2).plan(), 0, "dp"); };
  const Bytes wide = gathered("fp8_recipe: delayed");
  EXPECT_EQ(wide - gathered("fp8_recipe: delayed, fp8_param_gather: true"), Bytes(3 * kMatrices));
  EXPECT_EQ(wide, gathered("fp8_recipe: mxfp8, fp8_param_gather: true"));
}

std::vector<Bytes> transposes(const std::string& training, LayerSection section) {
  const JobText text(job(training), 2);
  std::vector<Bytes> found;
  for (const Kernel& kernel : kernels_of(section, make_kernel_context(text.shape, text.training, text.parallel))) {
    if (kernel.name == "transpose weights") found.push_back(kernel.bytes);
  }
  return found;
}

// A byte for each value less, and a copy of the down GEMM's 96 x 64 values in each backward pass.
TEST(CastWeights, WithoutACacheOfTransposesOneLayoutIsStored) {
  const std::string cached = "fp8_recipe: delayed, fp8_param_gather: true";
  const std::string dropped = cached + ", disable_parameter_transpose_cache: true";
  const auto weights = [](const std::string& training) {
    return memory_ledger(JobText(job(training), 2).inputs(), {}).front().of("weights");
  };
  EXPECT_EQ(weights(cached) - weights(dropped), Bytes(3 * kMatrices));
  EXPECT_THAT(transposes(dropped, LayerSection::kMlpDownBackward), testing::ElementsAre(Bytes(2 * 96 * 64)));
  EXPECT_THAT(transposes(cached, LayerSection::kMlpDownBackward), testing::IsEmpty());
  EXPECT_THAT(transposes(dropped, LayerSection::kMlp), testing::IsEmpty());
  const auto problems = [](const std::string& training) { return JobText(job(training), 2).problems(); };
  EXPECT_THAT(problems("fp8_recipe: delayed, disable_parameter_transpose_cache: true"),
              testing::ElementsAre("W131: training.disable_parameter_transpose_cache has no effect: "
                                   "training.fp8_param_gather is false"));
  EXPECT_THAT(problems("fp8_recipe: mxfp8, fp8_param_gather: true, disable_parameter_transpose_cache: true"),
              testing::ElementsAre("W131: training.disable_parameter_transpose_cache has no effect: scales of blocks "
                                   "along one side differ between the layouts, and both are stored"));
}

TEST(CastWeights, KeysThatHaveNoEffectAreReported) {
  const auto problems = [](const std::string& training, const std::string& parallel) {
    return JobText(job(training, parallel), 2).problems();
  };
  EXPECT_THAT(problems("fp8_param_gather: true", "{dp: 2}"),
              testing::ElementsAre("W131: training.fp8_param_gather has no effect: no GEMM is computed in fp8 or fp4"));
  EXPECT_THAT(problems("fp8_recipe: delayed, fp8_param_gather: true", "{dp: 2, zero: {stage: 3}}"),
              testing::ElementsAre("W131: training.fp8_param_gather has no effect: sharded parameters are gathered in "
                                   "the working type"));
}

}  // namespace
}  // namespace ringwright::workload::cast_weights_test
