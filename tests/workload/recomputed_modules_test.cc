// Selective recomputation by module: what is recomputed, and therefore not stored.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"
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
  EXPECT_THAT(job_of("deepseek-v3", ", recompute: selective, recompute_modules: [mlp]").problems(),
              ElementsAre(HasSubstr("E133: 'mlp' is not a module")));
}

TEST(RecomputedModules, OperatorsOfExpertsAreNotRecomputedOneByOne) {
  for (const char* recompute : {", recompute: selective-ops", ", recompute: except-saved"}) {
    EXPECT_THAT(job_of("mixtral-8x7b", recompute).problems(),
                ElementsAre(HasSubstr("E146: operators of layers with experts are not recomputed one by one")));
  }
}

}  // namespace
}  // namespace ringwright::workload::recomputed_modules_test
