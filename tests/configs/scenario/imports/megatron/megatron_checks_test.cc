#include "configs/scenario/imports/megatron/megatron_checks.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/scenario/imports/megatron/megatron_import.h"

namespace ringwright::configs::megatron_checks_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> messages_of(std::string_view text) {
  ConfigSource source{.name = "run.sh", .kind = SourceKind::kFile, .path = {}, .lines = {}};
  Diagnostics problems;
  static_cast<void>(import_megatron(text, source, problems));
  std::vector<std::string> result;
  for (const Diagnostic& diagnostic : problems.all()) result.push_back(diagnostic.code + ": " + diagnostic.message);
  return result;
}

std::vector<std::string> messages(const std::string& flags) {
  return messages_of("--num-layers 8 --hidden-size 512 " + flags + "\n");
}

// What an importing scenario has for a key; empty if nothing.
std::string imported_of(std::string_view text, std::string_view block, std::string_view key) {
  ConfigSource source{.name = "run.sh", .kind = SourceKind::kFile, .path = {}, .lines = {}};
  Diagnostics problems;
  const auto tree = import_megatron(text, source, problems);
  if (!tree) return {};
  for (const ConfigEntry& entry : tree->entries) {
    if (entry.key != block) continue;
    for (const ConfigEntry& inner : entry.value.entries) {
      if (inner.key == key) return inner.value.text;
    }
  }
  return {};
}

std::string imported(const std::string& flags, std::string_view block, std::string_view key) {
  return imported_of("--num-layers 38 " + flags + "\n", block, key);
}

TEST(MegatronChecks, AWordThatIsNoChoiceIsAnErrorAndNoOtherChoice) {
  EXPECT_THAT(messages("--normalization RMSnorm"),
              ElementsAre("E144: --normalization is 'RMSnorm'; did you mean 'RMSNorm'?"));
  EXPECT_THAT(messages("--position-embedding-type alibi"), ElementsAre("E144: --position-embedding-type is 'alibi'"));
  EXPECT_THAT(messages("--data-parallel-sharding-strategy full"),
              ElementsAre("E144: --data-parallel-sharding-strategy is 'full'"));
  EXPECT_THAT(messages("--attention-backend flash --normalization RMSNorm"), IsEmpty());
}

TEST(MegatronChecks, AFlagThatNeedsAnotherHasNoEffectAlone) {
  EXPECT_THAT(messages("--moe-router-topk 8"),
              ElementsAre("W131: --moe-router-topk has no effect without --num-experts"));
  EXPECT_THAT(messages("--q-lora-rank 512"),
              ElementsAre("W131: --q-lora-rank has no effect without --multi-latent-attention"));
  EXPECT_THAT(messages("--fp8-recipe blockwise"), ElementsAre("W131: --fp8-recipe has no effect without --fp8-format"));
  EXPECT_THAT(messages("--recompute-method uniform"),
              ElementsAre("W131: --recompute-method has no effect without --recompute-granularity full"));
  EXPECT_THAT(messages("--sequence-parallel"),
              ElementsAre("W131: --sequence-parallel has no effect: --tensor-model-parallel-size is 1"));
  EXPECT_THAT(messages("--cp-comm-type a2a"),
              ElementsAre("W131: --cp-comm-type has no effect: --context-parallel-size is 1"));
  EXPECT_THAT(messages("--tensor-model-parallel-size 2 --sequence-parallel"), IsEmpty());
}

TEST(MegatronChecks, WhatMegatronRefusesIsRefused) {
  EXPECT_THAT(messages("--overlap-param-gather --overlap-grad-reduce"),
              ElementsAre("E144: Megatron-LM refuses --overlap-param-gather without --use-distributed-optimizer"));
  EXPECT_THAT(messages("--overlap-param-gather --use-distributed-optimizer"),
              ElementsAre("E144: Megatron-LM refuses --overlap-param-gather without --overlap-grad-reduce"));
  EXPECT_THAT(messages("--exp-avg-dtype bf16"),
              ElementsAre("E144: Megatron-LM refuses --exp-avg-dtype without --use-precision-aware-optimizer"));
  EXPECT_THAT(messages("--exp-avg-dtype fp32"), IsEmpty());
  EXPECT_THAT(messages("--recompute-granularity full"),
              ElementsAre("E144: Megatron-LM refuses --recompute-granularity full without --recompute-method"));
  EXPECT_THAT(messages("--num-layers-per-virtual-pipeline-stage 2 --pipeline-model-parallel-size 4 "
                       "--num-virtual-stages-per-pipeline-rank 1"),
              Contains("E144: Megatron-LM refuses --num-layers-per-virtual-pipeline-stage together with "
                       "--num-virtual-stages-per-pipeline-rank"));
  const std::string offloads = "--cpu-offloading --cpu-offloading-num-layers 1 --pipeline-model-parallel-size ";
  EXPECT_THAT(messages(offloads + "2"),
              ElementsAre("E144: Megatron-LM refuses --cpu-offloading with --pipeline-model-parallel-size 2"));
  EXPECT_THAT(messages(offloads + "1"), IsEmpty());
}

// It prints what was not given as well, and Megatron has checked it.
TEST(MegatronChecks, ALogIsNotChecked) {
  EXPECT_THAT(messages_of("  num_layers ...................................... 8\n"
                          "  q_lora_rank ..................................... None\n"
                          "  kv_lora_rank .................................... 32\n"
                          "  moe_router_topk ................................. 2\n"),
              IsEmpty());
}

// Megatron turns the fusion off by itself where nothing is rotated.
TEST(MegatronChecks, ALogWithoutRotaryEmbeddingsHasNoFusionOfThem) {
  const std::string log = "  num_layers ...................................... 8\n"
                          "  apply_rope_fusion ............................... False\n"
                          "  position_embedding_type ......................... ";
  EXPECT_EQ(imported_of(log + "rope\n", "training", "apply_rope_fusion"), "false");
  EXPECT_EQ(imported_of(log + "learned_absolute\n", "training", "apply_rope_fusion"), "");
}

TEST(MegatronChecks, KernelsThatAreNotFusedAreReported) {
  EXPECT_THAT(messages("--no-bias-swiglu-fusion"),
              ElementsAre("W136: --no-bias-swiglu-fusion is not modelled: kernels are fused"));
  EXPECT_EQ(imported("--use-rotary-position-embeddings --no-rope-fusion", "training", "apply_rope_fusion"), "false");
  EXPECT_EQ(imported("--position-embedding-type yarn", "model", "position_embedding"), "yarn");
  EXPECT_THAT(messages("--no-masked-softmax-fusion"), IsEmpty());  // fused attention has no softmax of its own
  EXPECT_THAT(messages("--attention-backend unfused --no-masked-softmax-fusion"),
              ElementsAre("W136: --no-masked-softmax-fusion is not modelled: scale, mask and softmax are one kernel"));
}

TEST(MegatronChecks, RoutersThatNothingBalancesAreReported) {
  const std::string experts = "--num-experts 8 --moe-router-load-balancing-type ";
  EXPECT_THAT(messages(experts + "none"),
              ElementsAre("W136: --moe-router-load-balancing-type is none, but equal loads of experts are modelled; "
                          "parallel.moe_router_load states others"));
  EXPECT_THAT(messages(experts + "none --moe-router-enable-expert-bias"), IsEmpty());
  EXPECT_THAT(messages(experts + "none --moe-router-force-load-balancing"), IsEmpty());
  EXPECT_THAT(messages(experts + "aux_loss"), IsEmpty());
}

TEST(MegatronChecks, TheSoftmaxOfGptOssHasASink) {
  EXPECT_EQ(imported("--softmax-type learnable", "model", "attention_sinks"), "true");
  EXPECT_THAT(messages("--softmax-type learnable"), IsEmpty());
  EXPECT_THAT(messages("--softmax-type vanilla"), IsEmpty());
  EXPECT_THAT(messages("--softmax-type off-by-one"),
              ElementsAre("W136: --softmax-type off-by-one is not modelled: the softmax has no sink"));
}

// arguments.py: --num-query-groups is 1 by default.
TEST(MegatronChecks, GroupedQueriesWithoutANumberShareOneKey) {
  EXPECT_EQ(imported("--group-query-attention", "model", "num_query_groups"), "1");
  EXPECT_EQ(imported("", "model", "num_query_groups"), "");
}

// 38 layers, embedding and loss are 40: 4 stages of 2 chunks with 5 each.
TEST(MegatronChecks, ChunksCountTheEmbeddingAndTheLoss) {
  const std::string flags = "--pipeline-model-parallel-size 4 --num-layers-per-virtual-pipeline-stage 5";
  EXPECT_EQ(imported(flags + " --account-for-embedding-in-pipeline-split --account-for-loss-in-pipeline-split",
                     "parallel", "virtual_stages"),
            "2");
  EXPECT_EQ(imported(flags, "parallel", "virtual_stages"), "");
}

TEST(MegatronChecks, SizesBeyondAnythingAreRefusedBeforeTheyAreMultiplied) {
  EXPECT_THAT(messages("--swiglu --hidden-size 9223372036854775807"),
              Contains("E144: --hidden-size is 9223372036854775807, beyond any size that can be meant"));
  EXPECT_THAT(messages("--window-size 9223372036854775807,0"),
              ElementsAre("E144: --window-size is '9223372036854775807,0'"));
}

}  // namespace
}  // namespace ringwright::configs::megatron_checks_test
