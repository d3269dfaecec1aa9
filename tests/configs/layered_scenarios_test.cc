// Layer tables as scenarios: read, refused, simulated folded and not, and the closed form of their all-reduces.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/simulation/simulate.h"
#include "core/report/report.h"
#include "tests/configs/played.h"
#include "tests/paths.h"

namespace ringwright::configs::layered_scenarios_test {
namespace {

using testing::HasSubstr;

constexpr std::string_view kLayers =
    "layer_table:\n"
    "  global_batch: 64\n"
    "  bucket: 4MiB\n"
    "  layers:\n"
    "  - {name: conv, positions: 196, k: 2304, n: 256, inputs: 50176, epilogue: batch_norm, count: 3}\n"
    "  - {name: fc, k: 50176, n: 100, inputs: 50176, relu: false}\n";

std::string on(std::int64_t nodes, std::int64_t gpus, std::string_view job = kLayers) {
  return fmt::format("{}cluster: {{nodes: {}, node: {{preset: dgx-a100, gpus: {}}}}}\n", job, nodes, gpus);
}

TEST(LayeredScenarios, FoldedAreAsUnfolded) {
  for (const char* collectives : {"steps", "chunks"}) {
    const Scenario scenario = load(on(2, 4), {fmt::format("collectives.model={}", collectives)});
    const Played folded = play(scenario, FoldMode::kFold);
    const Played whole = play(scenario, FoldMode::kNoFold);
    EXPECT_EQ(folded.finished_at, whole.finished_at) << collectives;
    EXPECT_EQ(folded.record.iteration_end, whole.record.iteration_end) << collectives;
  }
}

// One GPU has nothing to wait for: its kernels one after another.
TEST(LayeredScenarios, OneGpuTakesTheTimeOfItsKernels) {
  const Scenario scenario = load(on(1, 1));
  const Played played = play(scenario);
  Duration sum;
  for (const Task& task : played.graph.programs.front().tasks) {
    sum += duration(*scenario.job.compute, played.graph.works[task.detail]);
  }
  EXPECT_EQ(played.time(), sum);
}

// A ring all-reduce sends 2 (n - 1) / n of every buffer: 3 x (2304 x 256 + 512) + 50176 x 100 + 100 weights of 4 bytes.
TEST(LayeredScenarios, ARingSendsTwiceItsShareOfTheGradients) {
  const Played played = play(load(on(1, 8), {"collectives.dp.algorithm=ring"}));
  constexpr double kWeights = 3.0 * (2304 * 256 + 512) + 50176 * 100 + 100;
  EXPECT_NEAR(static_cast<double>(played.sent(0, "dp").count()), kWeights * 4 * 2 * 7 / 8, 64.0);
}

TEST(LayeredScenarios, EveryKeyHasAnEffect) {
  const std::string plain = result_of(on(2, 4));
  for (const char* setting :
       {"layer_table.name=other", "layer_table.global_batch=128", "layer_table.precision=tf32",
        "layer_table.optimizer=adam", "layer_table.bucket=1KiB", "layer_table.first_bucket=64MiB",
        "layer_table.layers=[{name: fc, k: 64, n: 64, inputs: 64}]", "memory.cuda_context=1GiB"}) {
    EXPECT_TRUE(result_of(on(2, 4), {setting}) != plain) << setting;
  }
  const auto layer = [](std::string_view keys) {
    return result_of(on(1, 2, fmt::format("layer_table: {{global_batch: 8, layers: [{{{}}}]}}\n", keys)));
  };
  const std::string one = layer("name: a, k: 64, n: 64, inputs: 64");
  for (const char* keys : {"name: b, k: 64, n: 64, inputs: 64", "name: a, k: 128, n: 64, inputs: 64",
                           "name: a, k: 64, n: 128, inputs: 64", "name: a, k: 64, n: 64, inputs: 128",
                           "name: a, k: 64, n: 64, inputs: 64, count: 2",
                           "name: a, k: 64, n: 64, inputs: 64, relu: false",
                           "name: a, k: 64, n: 64, inputs: 64, positions: 4",
                           "name: a, k: 64, n: 64, inputs: 64, epilogue: batch_norm"}) {
    EXPECT_TRUE(layer(keys) != one) << keys;
  }
}

TEST(LayeredScenarios, MistakesAreNamedWithTheirFix) {
  EXPECT_THAT(refusal_of(on(1, 8), {"layer_table.global_batch=100"}), HasSubstr("layer_table.global_batch: 96"));
  EXPECT_THAT(refusal_of(on(1, 8), {"layer_table.layers=[]"}), HasSubstr("E540"));
  EXPECT_THAT(refusal_of(on(1, 8) + "parallel: {tp: 2}\n"), HasSubstr("E543"));
  EXPECT_THAT(refusal_of(on(1, 8) + "recommendation: {preset: facebook-dlrm}\n"), HasSubstr("E543"));
  EXPECT_THAT(refusal_of(on(1, 8), {"layer_table.layer=3"}), HasSubstr("layers"));
}

TEST(LayeredScenarios, SamplesAreCounted) {
  const auto outcome = simulate(load(on(1, 8)), FoldMode::kFold);
  ASSERT_TRUE(outcome && outcome->report);
  EXPECT_THAT(render_json(*outcome->report), HasSubstr("\"tokens_are\": \"samples\""));
  EXPECT_THAT(render_text(*outcome->report), HasSubstr("DP 8, "));
}

// GPUs that compute in no time: what remains is 2 (n - 1) / n of the gradients through the one NIC of each host at 25
// Gb/s, for n = 32 ranks (Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms", 2009), and its latencies.
TEST(LayeredScenarios, WithoutComputingAStepIsItsAllReduces) {
  for (const auto& [network, weights] : {std::pair("resnet101", 44549160.0), std::pair("vgg16", 138357544.0)}) {
    const ScenarioOptions options{
        .overrides = {fmt::format("layer_table.preset={}", network), "layer_table.global_batch=32", "cluster.nodes=8",
                      "cluster.node.gpu.peak.fp32=10000TFLOPS", "cluster.node.gpu.memory_bandwidth=1000TB/s",
                      "cluster.node.gpu.kernel_launch=1ns"},
        .share_folders = {}};
    const Played played = play(load_scenario(share_dir() + "/scenarios/vgg16-512-p100.yaml", options).value());
    const double least = 2.0 * 31 / 32 * weights * 4 / 3.125e9;
    EXPECT_GT(to_seconds(played.time()), least) << network;
    EXPECT_LT(to_seconds(played.time()), least * 1.01) << network;
  }
}

TEST(LayeredScenarios, AnUnknownPresetIsOneMistake) {
  const std::string refusal = refusal_of(on(1, 8, "layer_table: {preset: resnet, global_batch: 64}\n"));
  EXPECT_THAT(refusal, HasSubstr("layer_table.preset"));
  EXPECT_THAT(refusal, testing::Not(HasSubstr("E540")));
}

}  // namespace
}  // namespace ringwright::configs::layered_scenarios_test
