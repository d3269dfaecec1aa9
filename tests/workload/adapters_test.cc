// Low-rank adapters: what is trained, not computed, and not stored.
#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/free_player.h"
#include "tests/workload/job_text.h"
#include "tests/workload/traffic.h"
#include "workload/kernels/layer_kernels.h"
#include "workload/memory/activations.h"
#include "workload/memory/memory.h"

namespace ringwright::workload::adapters_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// MLPerf Training's fine-tuning: Llama 2 70B, adapters of rank 16 on the attention's GEMMs.
constexpr const char* kLora =
    "model: {preset: llama2-70b, lora: {rank: 16, target_modules: [linear_qkv, linear_proj]}}\n";
constexpr const char* kTwoLayers =
    "model: {preset: llama2-70b, num_layers: 2, lora: {rank: 16, target_modules: [linear_qkv, linear_proj]}}\n";

JobText job_of(const std::string& model, const std::string& parallel = "", std::int64_t ranks = 1) {
  return JobText(model + "training: {global_batch: 8}\nparallel: {" + parallel + "}\n", ranks);
}

std::int64_t trained(const JobText& job) {
  std::int64_t total = 0;
  for (std::int64_t layer = 0; layer < job.shape.layers; ++layer) {
    total += count_trainable(attention_tensors(job.shape, 1)) + count_trainable(mlp_tensors(job.shape, 1));
  }
  return total + count_trainable(embedding_tensors(job.shape, 1));
}

TEST(Adapters, OnlyTheyAreTrained) {
  const JobText job = job_of(kLora);
  EXPECT_THAT(job.problems(), testing::IsEmpty());
  // 80 layers: h to q + 2kv = 8192 to 10240, and 8192 to 8192.
  EXPECT_EQ(trained(job), 80LL * 16 * ((8192 + 10240) + (8192 + 8192)));
}

TEST(Adapters, FrozenGemmsHaveNoWeightGradient) {
  const JobText job = job_of(kLora);
  const KernelContext context = make_kernel_context(job.shape, job.training, job.parallel);
  EXPECT_THAT(kernels_of(LayerSection::kMlpUpWgrad, context), testing::IsEmpty());
  EXPECT_THAT(kernels_of(LayerSection::kLogitsWgrad, context), testing::IsEmpty());
  EXPECT_THAT(kernels_of(LayerSection::kEmbeddingWgrad, context), testing::IsEmpty());
  EXPECT_THAT(kernels_of(LayerSection::kQkvWgrad, context), testing::IsEmpty());
  EXPECT_EQ(kernels_of(LayerSection::kQkvDgrad, context).size(),
            6U);  // the frozen GEMM's, four of the adapter, a sum
}

// Two of the three GEMMs of each frozen weight are left, and all six of attention: Megatron-Bridge counts 2/3 of a
// frozen model's GEMMs and all of its attention.
TEST(Adapters, FrozenGemmsLackAThirdOfTheFlopsAttentionNothing) {
  const JobText job = job_of(kLora);
  const double tokens = 8.0 * static_cast<double>(job.shape.sequence);
  for (const AttentionCount count : {AttentionCount::kCausal, AttentionCount::kFull}) {
    const Flops all = model_flops(job_of("model: {preset: llama2-70b}\n").shape, 8, count);
    const double attention = 3.0 * 80.0 * attention_core_flops(job.shape, 8, count).count();
    const double adapters = 6.0 * tokens * static_cast<double>(trained(job));
    const double expected = (all.count() - attention) * 2.0 / 3.0 + attention + adapters;
    EXPECT_NEAR(model_flops(job.shape, 8, count).count() / expected, 1.0, 1e-12);
  }
}

// Without recomputation and with an attention that keeps its scores the kernels do what the model needs.
TEST(Adapters, KernelsDoWhatTheModelNeeds) {
  for (const char* targets : {"linear_qkv, linear_proj", "linear_qkv, linear_proj, linear_fc1, linear_fc2"}) {
    const JobText job(std::string("model: {preset: llama2-70b, seq_length: 512, make_vocab_size_divisible_by: 1,"
                                  " lora: {rank: 16, target_modules: [") +
                          targets + "]}}\ntraining: {global_batch: 8, attention: unfused}\n",
                      1);
    const StepPlan plan = job.plan();
    EXPECT_NEAR(plan.stage_flops[0].count() / plan.model_flops_full_attention.count(), 1.0, 1e-9) << targets;
  }
}

TEST(Adapters, OnlyTheirGradientsAreReduced) {
  const JobText job = job_of(kLora, "dp: 8", 8);
  const std::int64_t elements = trained(job);  // a multiple of 8 x 64
  EXPECT_EQ(traffic(job.plan(), 0, "dp"), Bytes(4 * elements));
}

TEST(Adapters, OptimizerAndGradientsAreTheirs) {
  const JobText job = job_of(kLora);
  ConfigDocument document = ConfigDocument::load_text("memory.yaml", "memory: {}\n").value();
  ConfigMap memory = document.root().map("memory", "memory");
  const StageMemory stage = memory_ledger(job.inputs(), read_memory_assumptions(memory)).front();
  EXPECT_EQ(stage.of("gradients"), Bytes(4 * trained(job)));
  EXPECT_EQ(stage.of("optimizer"), Bytes(12 * trained(job)));
  EXPECT_EQ(stage.of("weights"), Bytes(2 * job.plan().stage_parameters[0]));
}

// Of the inputs of four GEMMs only those with an adapter are stored: without one on the MLP 2h + 2f less.
TEST(Adapters, InputsOfFrozenGemmsAreNotStored) {
  const auto kept = [](const std::string& model) {
    const JobText job = job_of(model);
    return layer_activations(make_kernel_context(job.shape, job.training, job.parallel));
  };
  EXPECT_EQ(kept("model: {preset: llama2-70b}\n") - kept(kLora), Bytes(4096LL * 2 * (8192 + 28672)));
}

TEST(Adapters, TensorParallelRanksSplitTheMatrixThatTheSplitTouches) {
  const JobText job = job_of(kLora, "tp: 8, sequence_parallel: true", 8);
  std::vector<ParameterTensor> adapters;
  for (const ParameterTensor& tensor : attention_tensors(job.shape, 8)) {
    if (!tensor.frozen) adapters.push_back(tensor);
  }
  ASSERT_EQ(adapters.size(), 4U);
  EXPECT_TRUE(adapters[0].replicated);                     // h to rank
  EXPECT_EQ(adapters[1].elements, 16 * (1024 + 2 * 128));  // rank to this rank's columns
  EXPECT_EQ(adapters[2].elements, 1024 * 16);              // this rank's rows to rank
  EXPECT_TRUE(adapters[3].replicated);
  const JobText shallow = job_of(kTwoLayers, "tp: 8, sequence_parallel: true", 8);
  EXPECT_TRUE(FreePlayer(shallow.plan().graph, {}).play().has_value());
}

TEST(Adapters, MistakesAreReported) {
  EXPECT_THAT(
      job_of("model: {preset: llama2-70b, lora: {rank: 4, target_modules: [q_proj]}}\n").problems(),
      ElementsAre("E132: 'q_proj' is not a linear layer | use linear_qkv, linear_proj, linear_fc1, linear_fc2"));
  EXPECT_THAT(job_of("model: {preset: llama2-70b, lora: {target_modules: [linear_qkv]}}\n").problems(),
              ElementsAre(HasSubstr("W131: model.lora.target_modules has no effect")));
  EXPECT_THAT(job_of("model: {preset: deepseek-v3, lora: {rank: 4, target_modules: [linear_qkv]}}\n").problems(),
              ElementsAre(HasSubstr("E132: latent attention has no single GEMM")));
  for (const char* target : {"linear_fc1", "linear_fc2", "linear_qkv, linear_fc1"}) {
    const std::string lora = std::string(" lora: {rank: 4, target_modules: [") + target + "]}";
    EXPECT_THAT(job_of("model: {preset: mixtral-8x7b," + lora + "}\n").problems(),
                ElementsAre(HasSubstr("E132: adapters of experts are not modelled")))
        << target;
  }
}

}  // namespace
}  // namespace ringwright::workload::adapters_test
