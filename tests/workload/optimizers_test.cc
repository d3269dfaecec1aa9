// Optimizer state per parameter, bytes of its kernels, and LAMB's reductions over ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"
#include "workload/memory/memory.h"

namespace ringwright::workload::optimizers_test {
namespace {

using testing::IsEmpty;

JobText job(const std::string& training, const std::string& parallel = "zero: {stage: 1}", std::int64_t ranks = 8) {
  return JobText(
      "model: {preset: llama3-8b}\ntraining: {global_batch: 8, " + training + "}\nparallel: {" + parallel + "}\n",
      ranks);
}

std::int64_t state_of_a_parameter(const std::string& training) {
  const JobText asked = job("grad_reduce_dtype: bf16, " + training);
  EXPECT_THAT(asked.problems(), IsEmpty()) << training;
  const StageMemory memory = memory_ledger(asked.inputs(), {}).front();
  return memory.of("optimizer").count() * 8 / (memory.of("weights").count() / 2);
}

TEST(Optimizers, StoreMasterWeightsAndTheirMoments) {
  EXPECT_EQ(state_of_a_parameter("optimizer: adam"), 4 + 8);
  EXPECT_EQ(state_of_a_parameter("optimizer: adamw"), 4 + 8);
  EXPECT_EQ(state_of_a_parameter("optimizer: lamb"), 4 + 8);      // arXiv 1904.00962
  EXPECT_EQ(state_of_a_parameter("optimizer: amsgrad"), 4 + 12);  // arXiv 1904.09237
  EXPECT_EQ(state_of_a_parameter("optimizer: sgd"), 4 + 4);
  EXPECT_EQ(state_of_a_parameter("optimizer: sgd, sgd_momentum: 0"), 4);
  EXPECT_EQ(state_of_a_parameter("optimizer: amsgrad, exp_avg_sq_dtype: bf16"), 4 + 4 + 2 * 2);
  EXPECT_EQ(state_of_a_parameter("use_precision_aware_optimizer: true"), 2 + 8);
  EXPECT_EQ(state_of_a_parameter("use_precision_aware_optimizer: true, main_params_dtype: fp16"), 2 + 8);
  EXPECT_EQ(state_of_a_parameter("use_precision_aware_optimizer: true, exp_avg_dtype: bf16"), 2 + 2 + 4);
}

// Bytes of a parameter that kernels of this name touch.
std::int64_t touched(const std::string& optimizer, const std::string& kernel_name, const std::string& parallel = "") {
  const JobText asked = job("micro_batch: 1, optimizer: " + optimizer, parallel, parallel.empty() ? 1 : 8);
  EXPECT_THAT(asked.problems(), IsEmpty());
  const StepPlan plan = asked.plan();
  for (const Work& work : plan.graph.works) {
    for (const Kernel& kernel : work.kernels) {
      if (kernel.name != kernel_name) continue;
      return kernel.bytes.count() * (parallel.empty() ? 1 : 8) / plan.stage_parameters[0];
    }
  }
  return 0;
}

TEST(Optimizers, TouchTheirStateOnce) {
  EXPECT_EQ(touched("adamw", "adamw"), 2 * 12 + 4);  // a gradient in fp32
  EXPECT_EQ(touched("adamw", "copy weights"), 4 + 2);
  EXPECT_EQ(touched("amsgrad", "amsgrad"), 2 * 16 + 4);
  EXPECT_EQ(touched("sgd", "sgd"), 2 * 8 + 4);
  // Gradient, weight and moments in, moments and update out; both once more for their norms; then weights take the
  // update.
  EXPECT_EQ(touched("lamb", "lamb moments"), 4 + 4 + 16 + 4);
  EXPECT_EQ(touched("lamb", "lamb norms"), 8);
  EXPECT_EQ(touched("lamb", "lamb"), 8 + 4 + 2);
}

// Megatron, distrib_optimizer.py: main gradients are in fp32, into which bf16 ones are cast, unless the optimizer is
// aware of types and reads them as they are; it then writes the weights, too. FSDP's parameters are the master weights.
TEST(Optimizers, ReadGradientsInTheirTypes) {
  const std::string narrow = "adam, grad_reduce_dtype: bf16";
  EXPECT_EQ(touched(narrow, "gradients to fp32"), 2 + 4);
  EXPECT_EQ(touched(narrow, "gradient norm"), 4);
  EXPECT_EQ(touched(narrow, "gradient clip"), 8);
  EXPECT_EQ(touched(narrow, "adam"), 24 + 4);
  const std::string aware = narrow + ", exp_avg_dtype: bf16";
  EXPECT_EQ(touched(aware, "gradients to fp32"), 0);
  EXPECT_EQ(touched(aware, "gradient clip"), 4);
  EXPECT_EQ(touched(aware, "adam"), 2 * 10 + 2 + 2);
  EXPECT_EQ(touched(aware, "copy weights"), 0);
  EXPECT_EQ(touched(narrow + ", use_precision_aware_optimizer: true", "adam"), 2 * 10 + 2 + 2 * 2);
  EXPECT_EQ(touched(narrow, "adam", "fsdp: {}"), 24 + 4);
  EXPECT_EQ(touched(narrow, "gradients to fp32", "fsdp: {}"), 0);
  EXPECT_EQ(touched(narrow, "copy weights", "fsdp: {}"), 0);
}

// Two norms in fp32 of each tensor on the rank.
std::size_t norm_calls(const std::string& training, const std::string& parallel) {
  const StepPlan plan = job("micro_batch: 1, " + training, parallel).plan();
  std::size_t calls = 0;
  for (const Task& task : plan.graph.programs.front().tasks) {
    if (task.kind != TaskKind::kCollective) continue;
    const CollectiveSpec& spec = plan.graph.collectives[task.detail];
    // 32 layers of nine tensors, plus embedding, final norm and head.
    if (spec.kind == CollectiveKind::kAllReduce && spec.bytes >= Bytes(8 * 32 * 6) && spec.bytes <= Bytes(8 * 32 * 12))
      ++calls;
  }
  return calls;
}

TEST(Optimizers, LambAddsUpNormsOverAllThatHoldPartsOfATensor) {
  EXPECT_EQ(norm_calls("optimizer: adam", "tp: 2, zero: {stage: 1}"), 0U);
  EXPECT_EQ(norm_calls("optimizer: lamb", "tp: 2, zero: {stage: 1}"), 2U);
  EXPECT_EQ(norm_calls("optimizer: lamb", "zero: {stage: 1}"), 1U);
  EXPECT_EQ(norm_calls("optimizer: lamb", ""), 0U);  // every rank holds all of every tensor
}

TEST(Optimizers, KeysWithoutEffectAreReported) {
  EXPECT_THAT(job("optimizer: lamb, use_precision_aware_optimizer: true").problems(),
              testing::ElementsAre(testing::HasSubstr("E141: training.use_precision_aware_optimizer needs Adam")));
  EXPECT_THAT(job("optimizer: adagrad").problems(), testing::ElementsAre(testing::HasSubstr("adagrad")));
  const JobText momentum = job("optimizer: adam, sgd_momentum: 0.9");
  EXPECT_THAT(momentum.problems(), IsEmpty());
  EXPECT_THAT(momentum.ignored(), testing::Contains(testing::HasSubstr("sgd_momentum")));
}

}  // namespace
}  // namespace ringwright::workload::optimizers_test
