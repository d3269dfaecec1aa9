// Selective recomputation by module: what is recomputed, and therefore not stored.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/plan/task_graph.h"
#include "tests/workload/job_text.h"
#include "tests/workload/traffic.h"
#include "workload/kernels/layer_kernels.h"
#include "workload/memory/activations.h"

namespace ringwright::workload::recomputed_modules_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

JobText job_of(const std::string& preset, const std::string& training) {
  return JobText(
      "model: {preset: " + preset + "}\ntraining: {global_batch: 8" + training + "}\nparallel: {ep: 8, etp: 1}\n", 8);
}

KernelContext context_of(const std::string& modules) {
  const JobText job = job_of("deepseek-v3", ", recompute: selective, recompute_modules: [" + modules + "]");
  EXPECT_THAT(job.problems(), testing::IsEmpty()) << modules;
  return make_kernel_context(job.shape, job.training, job.parallel);
}

bool launches(LayerSection section, const KernelContext& context, const std::string& name) {
  const std::vector<Kernel> kernels = kernels_of(section, context);
  return std::ranges::find(kernels, name, &Kernel::name) != kernels.end();
}

KernelContext keeping_all() {
  const JobText job = job_of("deepseek-v3", "");
  return make_kernel_context(job.shape, job.training, job.parallel);
}

Bytes saved(const std::string& modules, MlpKind kind = MlpKind::kExperts) {
  return layer_activations(keeping_all(), {.mlp = kind}) - layer_activations(context_of(modules), {.mlp = kind});
}

// 4096 tokens of DeepSeek-V3 in two bytes.
TEST(RecomputedModules, NormsSaveTheInputsOfTwoGemms) {
  EXPECT_EQ(saved("layernorm"), Bytes(4096LL * 2 * 2 * 7168));
  EXPECT_TRUE(launches(LayerSection::kQkvDgrad, context_of("layernorm"), "attention norm"));
  EXPECT_TRUE(launches(LayerSection::kRouterBackward, context_of("layernorm"), "mlp norm"));
  EXPECT_TRUE(launches(LayerSection::kMlpUpDgrad, context_of("layernorm"), "mlp norm"));
  EXPECT_FALSE(launches(LayerSection::kQkvDgrad, context_of("core_attn"), "attention norm"));
}

TEST(RecomputedModules, LatentProjectionsSaveQueriesKeysAndValues) {
  // And results of the norms of latent vectors of 1536 and 512; the rotated part, 64, is stored instead of the keys.
  EXPECT_EQ(saved("mla_up_proj"), Bytes(4096LL * 2 * (128 * (192 + 192 + 128) + 1536 + 512 - 64)));
  EXPECT_TRUE(launches(LayerSection::kAttentionBackward, context_of("mla_up_proj"), "query up"));
  EXPECT_TRUE(launches(LayerSection::kProjectionBackward, context_of("mla_up_proj"), "key and value up"));
}

TEST(RecomputedModules, ExpertActivationsSaveOneWidthOfEveryRow) {
  EXPECT_EQ(saved("moe_act"), Bytes(4096LL * 8 * 2 * 2048));
  EXPECT_EQ(saved("moe_act", MlpKind::kDense), Bytes(0));
  EXPECT_TRUE(launches(LayerSection::kExpertsBackward, context_of("moe_act"), "experts swiglu"));
}

TEST(RecomputedModules, TheAttentionCoreIsRecomputedWhenNothingElseIsNamed) {
  const JobText job = job_of("deepseek-v3", ", recompute: selective");
  EXPECT_EQ(layer_activations(make_kernel_context(job.shape, job.training, job.parallel)),
            layer_activations(context_of("core_attn")));
  EXPECT_FALSE(launches(LayerSection::kAttentionBackward, context_of("layernorm"), "attention"));
}

TEST(RecomputedModules, SavingsAddUp) {
  EXPECT_EQ(saved("layernorm, mla_up_proj, moe_act"), saved("layernorm") + saved("mla_up_proj") + saved("moe_act"));
}

TEST(RecomputedModules, MistakesAreReported) {
  EXPECT_THAT(job_of("deepseek-v3", ", recompute_modules: [layernorm]").problems(),
              ElementsAre("W131: training.recompute_modules has no effect: recompute is not selective"));
  EXPECT_THAT(job_of("deepseek-v3", ", recompute: full, recompute_saves: [qkv]").problems(),
              ElementsAre("W131: training.recompute_saves has no effect: recompute is not except-saved"));
  EXPECT_THAT(job_of("llama3-8b", ", recompute: except-saved, recompute_saves: [norm]").problems(),
              testing::Contains(HasSubstr("E133: 'norm' is not a result that can be saved")));
  EXPECT_THAT(job_of("deepseek-v3", ", recompute: selective, recompute_modules: [attention]").problems(),
              ElementsAre(HasSubstr("E133: 'attention' is not a module")));
  const auto problems = [](const std::string& model, const std::string& module, const std::string& more = "") {
    return JobText("model: {preset: " + model + "}\ntraining: {global_batch: 8, recompute: selective, " +
                       "recompute_modules: [" + module + "]}\nparallel: {" + more + "}\n",
                   8)
        .problems();
  };
  for (const char* module : {"mla_up_proj", "gdn_norm_out"}) {
    EXPECT_THAT(problems("llama3-8b", module),
                ElementsAre(HasSubstr(std::string("E146: module ") + module + ": the model has no")));
  }
  for (const char* module : {"moe", "moe_act", "shared_experts"}) {
    EXPECT_THAT(problems("llama3-8b", module), ElementsAre(HasSubstr(std::string("W131: training.recompute_modules: ") +
                                                                     module + " has no effect: the model has no")));
  }
  EXPECT_THAT(problems("gpt-j-6b", "mlp"), ElementsAre(HasSubstr("E146: module mlp: in parallel blocks")));
  EXPECT_THAT(problems("deepseek-v3", "shared_experts", "ep: 8, etp: 1, moe_shared_expert_overlap: true"),
              ElementsAre(HasSubstr("E146: module shared_experts: it is incompatible with moe_shared_expert_overlap")));
  EXPECT_THAT(problems("deepseek-v3", "moe", "ep: 8, etp: 1, overlap_moe_expert_parallel_comm: true"),
              ElementsAre(HasSubstr("E146: module moe: it exchanges the tokens again")));
}

// Norm, gate and up, down: 3 x 2 b s h f FLOPs of a microbatch and layer, and their exchanges once more.
TEST(RecomputedModules, AnMlpIsComputedAndCommunicatedAgain) {
  const auto plan_of = [](const std::string& more) {
    const JobText job("model: {num_layers: 2, hidden_size: 64, num_attention_heads: 8, ffn_hidden_size: 96,"
                      " vocab_size: 1000, seq_length: 32}\ntraining: {global_batch: 4" + more +
                          "}\nparallel: {tp: 2, sequence_parallel: true}\n",
                      2);
    EXPECT_THAT(job.problems(), testing::IsEmpty());
    return job.plan();
  };
  const StepPlan stored = plan_of("");
  const StepPlan again = plan_of(", recompute: selective, recompute_modules: [mlp]");
  EXPECT_DOUBLE_EQ(again.hardware_flops.count() - stored.hardware_flops.count(), 4 * 2 * 3.0 * 2 * 32 * 64 * 96);
  EXPECT_DOUBLE_EQ(again.model_flops.count(), stored.model_flops.count());
  // A gather and a reduce-scatter of 32 x 64 values.
  EXPECT_EQ(traffic(again, 0, "tp") - traffic(stored, 0, "tp"), Bytes(4 * 2 * 2 * (32LL * 64 * 2)));
  EXPECT_EQ(check_task_graph(again.graph), "");
}

// All that Megatron's module holds: with the exchanges of tokens.
TEST(RecomputedModules, ExpertsAreComputedAndExchangedAgain) {
  const auto plan_of = [](const std::string& modules) {
    const JobText job("model: {num_layers: 2, hidden_size: 64, num_attention_heads: 8, ffn_hidden_size: 96,"
                      " vocab_size: 1000, seq_length: 32, num_experts: 8, moe_router_topk: 2, moe_ffn_hidden_size: 48,"
                      " moe_shared_expert_intermediate_size: 32}\ntraining: {global_batch: 8" +
                          (modules.empty() ? "" : ", recompute: selective, recompute_modules: [" + modules + "]") +
                          "}\nparallel: {ep: 4}\n",
                      4);
    EXPECT_THAT(job.problems(), testing::IsEmpty()) << modules;
    return job.plan();
  };
  const StepPlan stored = plan_of("");
  const auto more_flops = [&](const std::string& modules) {
    return (plan_of(modules).hardware_flops.count() - stored.hardware_flops.count()) / (8 * 2 * 2.0 * 32 * 64);
  };
  EXPECT_DOUBLE_EQ(more_flops("moe"), 2 * 3 * 48 + 3 * 32 + 8);
  EXPECT_DOUBLE_EQ(more_flops("shared_experts"), 3 * 32);
  EXPECT_DOUBLE_EQ(more_flops("moe, shared_experts"), 2 * 3 * 48 + 2 * 3 * 32 + 8) << "one checkpoint within the other";
  EXPECT_EQ(2 * traffic(plan_of("moe"), 0, "ep"), 3 * traffic(stored, 0, "ep"));
  EXPECT_EQ(traffic(plan_of("shared_experts"), 0, "ep"), traffic(stored, 0, "ep"));
}

// 4096 tokens of DeepSeek-V3, h 7168 in two bytes: of an MLP the input of its norm is left, of experts also its result.
TEST(RecomputedModules, WholeModulesKeepTheirInput) {
  const LayerHalves dense{.mlp = MlpKind::kDense};
  const LayerHalves experts{.mlp = MlpKind::kExperts};
  const LayerHalves without{.mlp = MlpKind::kNone};
  const auto kept = [](const std::string& modules, LayerHalves halves) {
    const KernelContext context = context_of(modules);
    return layer_activations(context, halves) - layer_activations(context, {.mlp = MlpKind::kNone});
  };
  const Bytes hidden(4096LL * 7168 * 2);
  EXPECT_EQ(kept("mlp", dense), hidden);
  EXPECT_EQ(kept("moe", experts), 2 * hidden);
  EXPECT_EQ(kept("moe, layernorm", experts), hidden);
  EXPECT_EQ(saved("shared_experts"), Bytes(4096LL * 3 * 2048 * 2));
  EXPECT_EQ(saved("mlp"), Bytes(0)) << "of dense layers alone";
  // What is not stored lives while it is recomputed.
  EXPECT_EQ(recomputed_layer(context_of("moe"), experts), saved("moe"));
  EXPECT_EQ(recomputed_layer(context_of("mlp"), dense), saved("mlp", MlpKind::kDense));
  EXPECT_EQ(recomputed_layer(context_of("mlp"), without), Bytes(0));
}

TEST(RecomputedModules, OperatorsOfExpertsAreNotRecomputedOneByOne) {
  for (const char* recompute : {", recompute: selective-ops", ", recompute: except-saved"}) {
    EXPECT_THAT(job_of("mixtral-8x7b", recompute).problems(),
                ElementsAre(HasSubstr("E146: operators of layers with experts are not recomputed one by one")));
  }
}

}  // namespace
}  // namespace ringwright::workload::recomputed_modules_test
