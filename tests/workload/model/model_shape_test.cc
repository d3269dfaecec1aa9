#include "workload/model/model_shape.h"

#include <tuple>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"

namespace ringwright::workload::model_shape_test {
namespace {

ModelShape preset(const std::string& name) {
  const JobText job("model: {preset: " + name + "}\ntraining: {global_batch: 1}\n", 1);
  EXPECT_THAT(job.problems(), testing::IsEmpty()) << name;
  EXPECT_EQ(job.shape.name, name);
  return job.shape;
}

struct Published {
  const char* name;
  std::int64_t parameters;
};

// Exact counts of the published checkpoints (total_size of the safetensors index of the Llama, Mistral and Qwen
// repositories over two bytes; gpt2-xl as loaded by transformers).
constexpr Published kPublished[] = {
    {"gpt2-1.5b", 1'557'611'200},  {"llama2-7b", 6'738'415'616},   {"llama2-70b", 68'976'648'192},
    {"llama3-8b", 8'030'261'248},  {"llama3-70b", 70'553'706'496}, {"llama3.1-405b", 405'853'388'800},
    {"mistral-7b", 7'241'732'096}, {"qwen2-72b", 72'706'203'648},  {"qwen3-32b", 32'762'123'264},
    {"qwen3-8b", 8'190'735'360},   {"qwen3-14b", 14'768'307'200},  {"qwen2.5-7b", 7'615'616'512},
    {"llama3.2-1b", 1'235'814'400}, {"llama3.2-3b", 3'212'749'824}, {"gemma2-27b", 27'227'128'320},
    {"gemma3-27b", 27'009'346'304},
};

TEST(ModelShape, PresetsHaveThePublishedNumberOfParameters) {
  for (const Published& published : kPublished) {
    EXPECT_EQ(parameters(preset(published.name)), published.parameters) << published.name;
  }
}

// In billions, as the model cards and reports print them: all, and those of one token, some without the embeddings.
TEST(ModelShape, PresetsWithExpertsHaveThePrintedNumberOfParameters) {
  const std::vector<std::tuple<const char*, double, double>> printed = {
      {"llama4-scout", 108, 17}, {"llama4-maverick", 401, 17}, {"kimi-k2", 1026, 33}, {"glm-4.5-air", 107, 12}};
  for (const auto& [name, all, active] : printed) {
    const ModelShape m = preset(name);
    EXPECT_NEAR(static_cast<double>(parameters(m)) / 1e9, all, 0.5) << name;
    const double used = static_cast<double>(active_parameters(m)) / 1e9;
    EXPECT_GE(used, active - 0.5) << name;
    EXPECT_LE(used - static_cast<double>(2 * m.vocabulary * m.hidden) / 1e9, active + 0.5) << name;
  }
}

TEST(ModelShape, MegatronPresetsFollowTheFormulaOfTheirPaper) {
  // Narayanan et al., SC 2021, eq. 2: P = 12 l h^2 (1 + 13/(12h) + (V + s)/(12 l h)); the final norm is not in it.
  // Billions as printed in its tables, 22 in Korthikanti et al.
  const std::vector<std::pair<const char*, double>> printed = {{"gpt3-175b", 174.6},
                                                               {"mt-nlg-530b", 529.6},
                                                               {"megatron-22b", 22.1},
                                                               {"megatron-1t", 1008.0},
                                                               {"megatron-145b", 145.6}};
  for (const auto& [name, billions] : printed) {
    const ModelShape m = preset(name);
    const std::int64_t l = m.layers;
    const std::int64_t h = m.hidden;
    const std::int64_t formula = 12 * l * h * h + 13 * l * h + (m.vocabulary + m.sequence) * h;
    EXPECT_EQ(parameters(m), formula + 2 * h) << name;
    EXPECT_NEAR(static_cast<double>(parameters(m)) / 1e9, billions, 0.05) << name;
  }
}

TEST(ModelShape, VocabularyIsPaddedTo128TimesTheTensorParallelSize) {
  ModelShape shape = preset("gpt2-1.5b");
  EXPECT_EQ(padded_vocabulary(shape, 1), 50'304);                     // 393 * 128
  EXPECT_EQ(padded_vocabulary(shape, 8), 51'200);                     // 50 * 1024
  EXPECT_EQ(padded_vocabulary(preset("llama3.1-405b"), 8), 129'024);  // 126 * 1024
  shape.vocabulary_multiple = 1;
  EXPECT_EQ(padded_vocabulary(shape, 1), 50'257);
}

TEST(ModelShape, TensorParallelRanksSplitMatricesAndReplicateNorms) {
  const ModelShape shape = preset("llama3-8b");
  const auto whole = attention_tensors(shape, 1);
  const auto part = attention_tensors(shape, 4);
  ASSERT_EQ(whole.size(), 3U);  // norm, qkv, projection
  EXPECT_EQ(part[0].elements, whole[0].elements);
  EXPECT_TRUE(part[0].replicated);
  EXPECT_EQ(part[1].elements * 4, whole[1].elements);
  EXPECT_EQ(part[2].elements * 4, whole[2].elements);
}

TEST(ModelShape, KeyValueHeadsAreReplicatedWhenThereAreFewerThanRanks) {
  const ModelShape shape = preset("llama3-8b");  // 8 key-value heads
  EXPECT_EQ(kv_heads_per_rank(shape, 2), 4);
  EXPECT_EQ(kv_heads_per_rank(shape, 16), 1);
  // Two query heads and one key and value head of 128 on each rank.
  EXPECT_EQ(attention_tensors(shape, 16)[1].elements, 4096 * (2 * 128 + 2 * 128));
}

TEST(ModelShape, ModelFlopsFollowTheClosedFormOfKorthikanti) {
  for (const char* name : {"gpt3-175b", "megatron-22b", "megatron-1t"}) {
    const ModelShape m = preset(name);
    const double B = 64;
    const auto L = static_cast<double>(m.layers);
    const auto s = static_cast<double>(m.sequence);
    const auto h = static_cast<double>(m.hidden);
    const auto V = static_cast<double>(m.vocabulary);
    const double closed = 72.0 * B * L * s * h * h * (1.0 + s / (6.0 * h) + V / (12.0 * h * L));
    EXPECT_NEAR(model_flops(m, 64, AttentionCount::kFull).count() / closed, 1.0, 1e-12) << name;
  }
}

TEST(ModelShape, CausalAttentionCountsHalfOfTheScoreMatrix) {
  const ModelShape m = preset("llama3-8b");
  // 4 * s^2 * a * d = 4 * 8192^2 * 32 * 128.
  EXPECT_NEAR(attention_core_flops(m, 1, AttentionCount::kFull).count(), 4.0 * 8192 * 8192 * 4096, 1.0);
  const Flops difference = model_flops(m, 1, AttentionCount::kFull) - model_flops(m, 1, AttentionCount::kCausal);
  EXPECT_NEAR(difference.count() / (3.0 * 32 * 2.0 * 8192 * 8192 * 4096), 1.0, 1e-12);
}

TEST(ModelShape, LlamaNeedsAboutSixFlopsPerParameterAndToken) {
  const ModelShape m = preset("llama3.1-405b");
  const double per_token = model_flops(m, 1, AttentionCount::kCausal).count() / static_cast<double>(m.sequence);
  // The embedding lookup is not a GEMM; causal attention adds 6 L s ad.
  const double expected = 6.0 * static_cast<double>(parameters(m) - m.vocabulary * m.hidden) + 6.0 * 126 * 8192 * 16384;
  EXPECT_NEAR(per_token / expected, 1.0, 1e-4);  // norms have parameters and no counted FLOPs
}

}  // namespace
}  // namespace ringwright::workload::model_shape_test
