#include "planning/adaptive/adaptive_ratio.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/simulation/simulate.h"
#include "tests/configs/played.h"

namespace ringwright::planning::adaptive_ratio_test {
namespace {

using testing::HasSubstr;

constexpr std::string_view kNic = "cluster.node.nic.bandwidth=";

RatioScenario job(std::string compression) {
  return [compression = std::move(compression)](const std::vector<std::string>& more) {
    return Result<configs::Scenario>(configs::load(
        std::string(configs::kTinyModel) +
            fmt::format("training: {{global_batch: 64, compression: {{{}}}}}\nparallel: {{dp: auto}}\n"
                        "cluster: {{nodes: 4, node: {{preset: dgx-h100, gpus: 1, nic: {{count: 1}}}}, fabric: {{type: "
                        "fat_tree}}}}\nsimulate: {{steps: 1, warmup: 0}}\n",
                        compression),
        more));
  };
}

RatioPhase phase(std::int64_t steps, std::string_view bandwidth) {
  return {.steps = steps, .settings = {std::string(kNic) + std::string(bandwidth)}};
}

// A tenth of the bandwidth: a tenth of the ratio holds the exchange; the first step still has the old one.
TEST(AdaptiveRatio, FollowsTheBandwidth) {
  const auto result = adapt_ratio({.load = job("codec: topk, ratio: 10%"),
                                   .phases = {phase(10, "1Gbps"), phase(10, "100Mbps"), phase(10, "1Gbps")},
                                   .least = "0.1%"});
  ASSERT_TRUE(result) << render(result.error());
  ASSERT_EQ(result->phases.size(), 3U);
  EXPECT_DOUBLE_EQ(result->phases[0].mean_ratio, 0.1);
  EXPECT_EQ(result->phases[0].adaptive, result->phases[0].fixed);
  EXPECT_NEAR(result->phases[1].mean_ratio, 0.1 * 0.1 + 0.9 * 0.01, 0.002);
  EXPECT_LT(result->phases[1].adaptive, result->phases[1].fixed);
  EXPECT_GT(result->phases[1].adaptive, result->phases[1].least);
  EXPECT_GT(result->phases[2].mean_ratio, 0.085);
  EXPECT_GT(result->gain(), 1.0);
  EXPECT_THAT(render_adaptive_text(*result), HasSubstr("convergence is not modelled"));
  EXPECT_THAT(render_adaptive_json(*result), HasSubstr("ringwright.adaptive/1"));
}

TEST(AdaptiveRatio, StaysAtTheLeast) {
  const auto result = adapt_ratio(
      {.load = job("codec: topk, ratio: 10%"), .phases = {phase(1, "1Gbps"), phase(20, "1Mbps")}, .least = "5%"});
  ASSERT_TRUE(result) << render(result.error());
  EXPECT_NEAR(result->phases[1].mean_ratio, 0.05, 0.005);
}

TEST(AdaptiveRatio, MistakesAreReported) {
  const auto refusal = [](std::string_view compression, std::vector<RatioPhase> phases, std::string least = "0.1%") {
    const auto result =
        adapt_ratio({.load = job(std::string(compression)), .phases = std::move(phases), .least = std::move(least)});
    return result ? std::string("none") : render(result.error());
  };
  EXPECT_THAT(refusal("codec: int8", {phase(1, "1Gbps")}), HasSubstr("has no ratio"));
  EXPECT_THAT(refusal("codec: topk", {}), HasSubstr("no phases"));
  EXPECT_THAT(refusal("codec: topk, ratio: 1%", {phase(1, "1Gbps")}, "2%"), HasSubstr("above the scenario's"));
  EXPECT_FALSE(parse_phase("many a=b"));
  EXPECT_FALSE(parse_phase("0 a=b"));
  EXPECT_FALSE(parse_phase("3x"));
  EXPECT_FALSE(parse_phase("3 training.compression.ratio=5%"));
  // The job is the same in all phases, its codec too.
  for (const char* const job :
       {"3 training.compression.codec=int8", "3 training.global_batch=8", "3 training={compression: {ratio: 5%}}",
        "3 parallel.tp=2", "3 cluster.nodes=2 model.x=1"}) {
    const auto refused = parse_phase(job);
    ASSERT_FALSE(refused) << job;
    EXPECT_THAT(render(refused.error()), HasSubstr("changes the job, and a phase changes the network")) << job;
  }
  const auto parsed = parse_phase("3 cluster.a=b faults=d");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->steps, 3);
  EXPECT_EQ(parsed->settings, (std::vector<std::string>{"cluster.a=b", "faults=d"}));
}

}  // namespace
}  // namespace ringwright::planning::adaptive_ratio_test
