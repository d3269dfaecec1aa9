// Recommendation models as scenarios: read, refused, simulated folded and not, on every rung.
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/simulation/simulate.h"
#include "core/report/report.h"
#include "tests/configs/played.h"

namespace ringwright::configs::recommendation_scenarios_test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kModel =
    "recommendation:\n"
    "  dense_features: 16\n"
    "  bottom_mlp: [64, 32]\n"
    "  top_mlp: [64, 1]\n"
    "  global_batch: 4096\n"
    "  tables:\n"
    "  - {count: 8, rows: 100000, dim: 32, pooling: 4}\n";
constexpr std::string_view kMixedModel =
    "recommendation:\n"
    "  dense_features: 16\n"
    "  bottom_mlp: [64, 32]\n"
    "  top_mlp: [64, 1]\n"
    "  global_batch: 4096\n"
    "  tables:\n"
    "  - {count: 9, rows: 100000, dim: 32, pooling: 4, sharding: table_wise}\n"
    "  - {count: 2, rows: 900000, dim: 32, pooling: 7, sharding: row_wise}\n"
    "  - {count: 1, rows: 100000, dim: 32, pooling: 4, sharding: column_wise, column_shards: 2}\n"
    "  - {count: 3, rows: 100, dim: 32, sharding: data_parallel}\n";

std::string on(std::int64_t nodes, std::int64_t gpus, std::string_view model = kModel) {
  return fmt::format("{}cluster: {{nodes: {}, node: {{preset: dgx-a100, gpus: {}}}}}\n", model, nodes, gpus);
}

TEST(RecommendationScenarios, FoldedAreAsUnfolded) {
  for (const std::string_view model : {kModel, kMixedModel}) {
    for (const char* collectives : {"steps", "chunks"}) {
      const Scenario scenario = load(on(2, 4, model), {fmt::format("collectives.model={}", collectives)});
      const Played folded = play(scenario, FoldMode::kFold);
      const Played whole = play(scenario, FoldMode::kNoFold);
      EXPECT_EQ(folded.finished_at, whole.finished_at) << collectives;
      EXPECT_EQ(folded.record.iteration_end, whole.record.iteration_end) << collectives;
    }
  }
}

// One GPU has nothing to wait for: its kernels one after another.
TEST(RecommendationScenarios, OneGpuTakesTheTimeOfItsKernels) {
  const Scenario scenario = load(on(1, 1), {"compute.host_issue=4us"});  // a host that keeps up
  const Played played = play(scenario);
  Duration sum;
  for (const Task& task : played.graph.programs.front().tasks) {
    sum += duration(*scenario.job.compute, played.graph.works[task.detail]);
  }
  EXPECT_EQ(played.time(), sum);
}

// Eight equal tables on eight ranks. Of every all-to-all 7/8 leave a rank: indices 512 x 8 x 5 x 8 bytes, and pooled
// rows with their gradients 512 x 8 x 32 x 4 each.
TEST(RecommendationScenarios, RanksSendSevenEighthsOfTheirBuffers) {
  const Played played = play(load(on(1, 8), {"collectives.mp.algorithm=pairwise"}));
  EXPECT_EQ(played.sent(0, "mp"), Bytes((512 * 8 * 5 * 8 + 2 * 512 * 8 * 32 * 4) / 8 * 7));
}

// The host reads the sizes of the exchange of indices in every step, unless they belong to a later one.
TEST(RecommendationScenarios, TheHostWaitsForTheSizesOfTheExchange) {
  const auto time = [](std::string_view read, std::string_view prefetch) {
    return play(load(on(1, 8), {fmt::format("compute.host_read={}", read),
                                fmt::format("recommendation.prefetch_indices={}", prefetch)})).time();
  };
  EXPECT_EQ(time("5ms", "false") - time("1ms", "false"), Duration(4'000'000'000));
  EXPECT_EQ(time("5ms", "true"), time("1ms", "true"));
}

std::string setting_name(std::string_view setting) {
  return std::string(setting.substr(0, setting.find('=')));
}

// Each changes the result of the mixed model, or is listed as without effect.
TEST(RecommendationScenarios, EveryKeyHasAnEffect) {
  const std::string text = on(2, 4, kMixedModel);
  const std::string plain = result_of(text);
  for (const char* setting :
       {"recommendation.name=other", "recommendation.dense_features=32", "recommendation.bottom_mlp=[128,32]",
        "recommendation.top_mlp=[128,1]", "recommendation.interaction=cat", "recommendation.interaction=dcn",
        "recommendation.global_batch=8192", "recommendation.precision=tf32", "recommendation.embedding_precision=fp16",
        "recommendation.comm_precision=fp16", "recommendation.optimizer=sgd", "recommendation.gather_efficiency=0.4",
        "recommendation.prefetch_indices=true", "recommendation.ddp_bucket=4KiB",
        "recommendation.tables=[{rows: 100000, dim: 32}]", "memory.cuda_context=1GiB"}) {
    EXPECT_TRUE(result_of(text, {setting}) != plain) << setting;
  }
  const std::string cross = result_of(text, {"recommendation.interaction=dcn"});
  for (const char* setting : {"recommendation.dcn_layers=1", "recommendation.dcn_low_rank=64"}) {
    EXPECT_TRUE(result_of(text, {"recommendation.interaction=dcn", setting}) != cross) << setting;
    EXPECT_THAT(result_of(text, {setting}), HasSubstr(setting_name(setting))) << "listed as ignored";
  }
  const std::string even = result_of(on(2, 4));
  for (const char* sharding : {"row_wise", "data_parallel"}) {
    EXPECT_TRUE(result_of(on(2, 4), {fmt::format("recommendation.sharding={}", sharding)}) != even) << sharding;
  }
}

constexpr std::string_view kOne =
    "recommendation: {dense_features: 4, bottom_mlp: [8], top_mlp: [1], global_batch: 64, ";

std::string table(std::string_view keys, std::string_view entries) {
  return on(1, 8, fmt::format("{}{} tables: [{{{}}}]}}\n", kOne, keys, entries));
}

TEST(RecommendationScenarios, TablesDifferByEachKey) {
  const std::string plain = result_of(table("", "rows: 1000, dim: 8"));
  for (const char* entries : {"rows: 2000, dim: 8", "rows: 1000, dim: 8, count: 2", "rows: 1000, dim: 8, pooling: 9",
                              "rows: 1000, dim: 8, sharding: table_wise"}) {
    EXPECT_TRUE(result_of(table("", entries)) != plain) << entries;
  }
  const auto columns = [](int shards) {
    return result_of(table("interaction: cat,",
                           fmt::format("rows: 1000, dim: 64, sharding: column_wise, column_shards: {}", shards)));
  };
  EXPECT_TRUE(columns(2) != columns(4));
}

TEST(RecommendationScenarios, MistakesAreNamedWithTheirFix) {
  EXPECT_THAT(refusal_of(on(1, 8), {"recommendation.global_batch=100"}), HasSubstr("E551"));
  EXPECT_THAT(refusal_of(on(1, 8), {"recommendation.global_batch=100"}), HasSubstr("recommendation.global_batch: 96"));
  EXPECT_THAT(refusal_of(on(1, 8), {"recommendation.bottom_mlp=[64]"}), HasSubstr("E550"));
  EXPECT_THAT(refusal_of(on(1, 8), {"recommendation.bottom_mlp=[]"}), HasSubstr("E550"));
  EXPECT_THAT(refusal_of(on(1, 8), {"recommendation.tables=[]"}), HasSubstr("E550"));
  EXPECT_THAT(refusal_of(table("", "rows: 9, dim: 8, sharding: column_wise, column_shards: 3")), HasSubstr("E550"));
  EXPECT_THAT(refusal_of(table("", "count: 99999, rows: 9, dim: 8, sharding: column_wise, column_shards: 8")),
              HasSubstr("E553"));
  EXPECT_THAT(refusal_of(on(1, 8) + "parallel: {tp: 2}\n"), HasSubstr("E552"));
  EXPECT_THAT(refusal_of(fmt::format("{}cluster: {{node: {{preset: dgx1-v100}}}}\n", kModel),
                         {"recommendation.precision=tf32"}),
              HasSubstr("E135"));
}

TEST(RecommendationScenarios, AnUnevenPlacementIsReported) {
  const Scenario scenario =
      load(on(1, 8), {"recommendation.sharding=table_wise", "recommendation.tables=[{count: 9, rows: 1000, dim: 32}]"});
  EXPECT_THAT(render(scenario.document.log().diagnostics()), HasSubstr("W550"));
}

// Tables over the GPUs of hosts take as long folded as unfolded.
TEST(RecommendationScenarios, TablesOfHostsRun) {
  for (const char* sharding : {"recommendation.sharding=table_row_wise", "recommendation.framework=hugectr"}) {
    const std::string text = on(2, 4, kMixedModel);
    EXPECT_EQ(play(load(text, {sharding})).time(), play(load(text, {sharding}), FoldMode::kNoFold).time());
  }
}

// 32 columns are one part of at least 32, which is a whole table.
TEST(RecommendationScenarios, TablesTooNarrowForPartsAreReported) {
  const Scenario scenario = load(on(1, 8), {"recommendation.sharding=column_wise"});
  EXPECT_THAT(render(scenario.document.log().diagnostics()), HasSubstr("W551"));
}

TEST(RecommendationScenarios, SamplesAreCounted) {
  const auto outcome = simulate(load(on(1, 8)), FoldMode::kFold);
  ASSERT_TRUE(outcome && outcome->report);
  EXPECT_THAT(render_json(*outcome->report), HasSubstr("\"tokens_are\": \"samples\""));
  EXPECT_THAT(render_text(*outcome->report), HasSubstr("Samples/s/GPU"));
}

// Copies on every rank exchange dense gradients alone, and one rank exchanges nothing.
TEST(RecommendationScenarios, KeysWithoutEffectAreNamed) {
  const auto idle = [](const std::string& text, const std::string& setting) {
    return render(warnings_of(load(text, {"recommendation." + setting})));
  };
  const std::string split = on(1, 4);
  const std::string copies = on(1, 4, std::string(kModel) + "  sharding: data_parallel\n");
  for (const std::string setting : {"zipf=1.1", "cache.rows=1%", "cache.lookahead=2", "prefetch_indices=true"}) {
    const std::string key = "recommendation." + setting.substr(0, setting.find_first_of(".="));
    EXPECT_THAT(idle(copies, setting), HasSubstr(key + " has no effect: "));
    EXPECT_THAT(idle(split, setting), Not(HasSubstr(key)));
  }
  EXPECT_THAT(idle(split, "cache.rows=100%"),
              HasSubstr("recommendation.cache has no effect: the cache holds all rows"));
  EXPECT_THAT(idle(copies, "embedding_precision=fp16"), HasSubstr("embedding_precision has no effect in part"));
  EXPECT_THAT(idle(split, "embedding_precision=fp16"), Not(HasSubstr("embedding_precision")));
  // Tables whose sharding is given stay where they are, and bags of one row are rows.
  EXPECT_THAT(idle(copies, "replicate_below=1MiB"), HasSubstr("recommendation.replicate_below has no effect"));
  EXPECT_THAT(idle(split, "replicate_below=1MiB"), Not(HasSubstr("replicate_below")));
  EXPECT_THAT(idle(table("", "rows: 1000, dim: 8"), "fixed_bags=true"), HasSubstr("looks up one row of each table"));
  EXPECT_THAT(idle(split, "fixed_bags=true"), Not(HasSubstr("fixed_bags")));
  for (const std::string setting : {"ddp_bucket=1MiB", "prefetch_indices=true"}) {
    EXPECT_THAT(render(warnings_of(load(split, {"recommendation.framework=hugectr", "recommendation." + setting}))),
                HasSubstr(setting.substr(0, setting.find('=')) + " has no effect: HugeCTR"));
  }
  EXPECT_THAT(render(warnings_of(load(split, {"collectives.mp_intra.algorithm=ring"}))),
              HasSubstr("mp_intra has no effect: no tables are placed on hosts: table_row_wise and HugeCTR's "
                        "auto do that, HugeCTR only on several hosts"));
  for (const std::string setting : {"comm_precision=fp16", "ddp_bucket=1MiB", "prefetch_indices=true"}) {
    const std::string key = "recommendation." + setting.substr(0, setting.find('='));
    EXPECT_THAT(idle(on(1, 1), setting), HasSubstr(key + " has no effect"));
    EXPECT_THAT(idle(split, setting), Not(HasSubstr(key)));
  }
}

std::int64_t parameters_of(std::string_view preset) {
  const std::string text =
      fmt::format("recommendation: {{preset: {}}}\ncluster: {{node: {{preset: dgx-a100}}}}\n", preset);
  const Scenario scenario = load(text);
  return assemble(scenario)->plan().parameters;
}

// Eight tables of a million rows of 64; 8 + 1 vectors have 36 pairs: 512-64, 64 + 36-1024-1024-1024-1. And 26 of
// 128 columns with 177,944,275 rows together (the sum of num_embeddings_per_feature).
TEST(RecommendationScenarios, ShippedModelsHaveTheirParameters) {
  constexpr std::int64_t kLayer = 1024 * 1024 + 1024;
  EXPECT_EQ(parameters_of("facebook-dlrm"),
            8'000'000LL * 64 + (512 * 512 + 512) + (512 * 64 + 64) + (100 * 1024 + 1024) + 2 * kLayer + 1025);
  constexpr std::int64_t kBottom = 13 * 512 + 512 + 512 * 256 + 256 + 256 * 128 + 128;
  constexpr std::int64_t kTop = 479 * 1024 + 1024 + kLayer + 1024 * 512 + 512 + 512 * 256 + 256 + 257;
  EXPECT_EQ(parameters_of("dlrm-criteo"), 177'944'275LL * 128 + kBottom + kTop);
}

// 204,184,588 rows of 128 columns (sum of num_embeddings_per_feature), and the dense layers: bottom 13-512-256-128;
// three cross layers of 3456 x 512 and 512 x 3456 + 3456; top 3456-1024-1024-512-256-1.
TEST(RecommendationScenarios, MlperfHasItsParameters) {
  constexpr std::int64_t kBottom = 13 * 512 + 512 + 512 * 256 + 256 + 256 * 128 + 128;
  constexpr std::int64_t kCross = 3 * (2 * 3456 * 512 + 3456);
  constexpr std::int64_t kTop = 3456 * 1024 + 1024 + 1024 * 1024 + 1024 + 1024 * 512 + 512 + 512 * 256 + 256 + 257;
  EXPECT_EQ(parameters_of("mlperf-dlrm-dcnv2"), 204'184'588LL * 128 + kBottom + kCross + kTop);
}

}  // namespace
}  // namespace ringwright::configs::recommendation_scenarios_test
