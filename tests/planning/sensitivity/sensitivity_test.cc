#include "planning/sensitivity/sensitivity.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/configs/played.h"

namespace ringwright::planning::sensitivity_test {
namespace {

// Wide enough that its GEMMs are bound by arithmetic.
SensitivityResult of(const std::string& text, const SensitivityOptions& options = {}) {
  const std::string path = testing::TempDir() + "ringwright_sensitivity_" + std::to_string(::getpid()) + ".yaml";
  std::ofstream(path) << text;
  auto result = sensitivity(path, {}, options);
  std::filesystem::remove(path);
  if (!result) throw std::runtime_error(render(result.error()));
  return std::move(*result);
}

const std::string kJob = std::string(configs::kTinyModel) +
                         "training: {global_batch: 16}\nparallel: {tp: 2}\ncompute: {model: roofline}\n"
                         "collectives: {model: closed_form, overhead: none}\n"
                         "cluster: {nodes: 1, node: {preset: dgx-h100}, fabric: {type: single_node}}\n"
                         "simulate: {network: alpha_beta}\n";

const ParameterResponse* response(const SensitivityResult& result, std::string_view key) {
  const auto found = std::ranges::find(result.responses, key, &ParameterResponse::key);
  return found == result.responses.end() ? nullptr : &*found;
}

TEST(Sensitivity, SortsParametersByElasticity) {
  const SensitivityResult result = of(kJob);
  ASSERT_GT(result.responses.size(), 2U);
  for (std::size_t i = 1; i < result.responses.size(); ++i) {
    EXPECT_GE(std::abs(result.responses[i - 1].elasticity), std::abs(result.responses[i].elasticity));
  }
}

// More bandwidth never makes this step longer, more latency never shorter.
TEST(Sensitivity, HasTheSignOfTheParameter) {
  const SensitivityResult result = of(kJob);
  const ParameterResponse* memory = response(result, "cluster.node.gpu.memory_bandwidth");
  ASSERT_NE(memory, nullptr);
  EXPECT_LT(memory->elasticity, 0.0);
  EXPECT_GT(*memory->low.step, result.step);
  EXPECT_LT(*memory->high.step, result.step);
}

// Entries of lists cannot be set alone: what GPUs and NICs of a mixed cluster matter is not known.
TEST(Sensitivity, NamesParametersOfListsThatAreNotVaried) {
  const SensitivityResult result =
      of(std::string(configs::kTinyModel) +
         "training: {global_batch: 16}\nparallel: {tp: 2}\ncluster: {groups: [{nodes: 1, node: {preset: dgx-h100}}, "
         "{nodes: 1, node: {preset: dgx-a100}}], fabric: {type: rail_optimized, leaf: {ports: 64}}}\n"
         "collectives: {model: closed_form, overhead: none}\nsimulate: {network: alpha_beta}\n");
  EXPECT_EQ(std::ranges::count(result.not_varied, "cluster.groups[1].node.nic.bandwidth"), 1);
  EXPECT_EQ(std::ranges::count(result.not_varied, "cluster.groups[0].node.gpu.memory_bandwidth"), 1);
  EXPECT_NE(render_sensitivity_text(result).find(" parameters of entries of lists are not varied"), std::string::npos);
  EXPECT_EQ(std::ranges::count(result.not_varied, "cluster.groups[0].node.gpu.compute_capability"), 0);  // no quantity
}

// `compute.step_speed` and `compute.host_issue` have the GPU's values unless they are given: one of both is listed.
TEST(Sensitivity, ListsAValueOfTwoKeysOnce) {
  const std::string job = std::string(configs::kTinyModel) +
                          "training: {global_batch: 8}\ncluster: {nodes: 1, node: {preset: dgx-h100}}\n";
  const SensitivityResult result = of(job);
  EXPECT_NE(response(result, "cluster.node.gpu.host_issue"), nullptr);
  for (const char* key : {"compute.step_speed", "compute.host_issue"}) {
    EXPECT_EQ(response(result, key), nullptr) << key;
    EXPECT_EQ(std::ranges::find(result.without_effect, key), result.without_effect.end()) << key;
  }
  EXPECT_NE(response(of(job + "compute: {host_issue: 20us}\n"), "compute.host_issue"), nullptr);
}

// One host: its NICs carry nothing.
// A step that waits for its samples follows the time of a worker for one: 16 samples take 16 s / 2 workers.
TEST(Sensitivity, KnowsTheDataPipeline) {
  const SensitivityResult result = of(kJob + "data_pipeline: {cpu_per_sample: 1s, local_workers: 2}\n");
  ASSERT_EQ(result.responses.size(), 1U);
  EXPECT_EQ(result.responses[0].key, "data_pipeline.cpu_per_sample");
  EXPECT_NEAR(result.responses[0].elasticity, 1.0, 1e-9);
}

// Rows at random are read at a share of a stream's speed, which is assumed.
TEST(Sensitivity, KnowsARecommendationModel) {
  const SensitivityResult result =
      of("recommendation: {dense_features: 13, bottom_mlp: [64], top_mlp: [1], global_batch: 4096, precision: tf32,\n"
         "  tables: [{count: 8, rows: 1000000, dim: 64, pooling: 100}]}\n"
         "cluster: {nodes: 1, node: {preset: dgx-a100, gpus: 1}, fabric: {type: single_node}}\n");
  ASSERT_NE(response(result, "recommendation.gather_efficiency"), nullptr);
  EXPECT_LT(response(result, "recommendation.gather_efficiency")->elasticity, 0.0);
  for (const std::string& key : result.without_effect) EXPECT_FALSE(key.starts_with("recommendation.upkeep")) << key;
}

TEST(Sensitivity, ListsWhatHasNoEffect) {
  const SensitivityResult result = of(kJob);
  EXPECT_NE(std::ranges::find(result.without_effect, "cluster.node.nic.bandwidth"), result.without_effect.end());
}

TEST(Sensitivity, UsesOneSideWhereTheOtherIsRefused) {
  const SensitivityResult result = of(kJob + "interference: {model: none}\n", {.share = 0.5});
  const ParameterResponse* efficiency = response(result, "compute.gemm_efficiency");
  ASSERT_NE(efficiency, nullptr);
  EXPECT_FALSE(efficiency->high.step.has_value());
  EXPECT_NE(efficiency->high.reason.find("must be"), std::string::npos) << efficiency->high.reason;
  EXPECT_NEAR(efficiency->elasticity, ratio(result.step - *efficiency->low.step, result.step) / 0.5, 1e-9);
}

TEST(Sensitivity, DoesNotDependOnThreads) {
  const auto text = [](int threads) {
    const SensitivityResult result = of(kJob, {.workers = {.threads = threads}});
    return render_sensitivity_text(result) + render_sensitivity_json(result);
  };
  EXPECT_EQ(text(1), text(2));
}

TEST(Sensitivity, TakesAShareBetweenNothingAndAll) {
  EXPECT_DOUBLE_EQ(*parse_share("10%"), 0.1);
  for (const char* wrong : {"0%", "100%", "-5%", "much"}) EXPECT_FALSE(parse_share(wrong)) << wrong;
}

}  // namespace
}  // namespace ringwright::planning::sensitivity_test
