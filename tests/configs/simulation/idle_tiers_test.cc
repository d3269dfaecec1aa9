// Ratios and speeds of tiers that no traffic crosses are listed as without effect.
#include "configs/simulation/idle_tiers.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/simulation/simulate.h"
#include "tests/configs/played.h"

namespace ringwright::configs::idle_tiers_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Data parallelism of one GPU of each host: rings stay on the rails, and so below the leaf switches of a unit.
std::vector<std::string> ignored(int unit, const std::string& fabric, std::vector<std::string> overrides = {}) {
  const std::string text =
      std::string(kTinyModel) + "training: {global_batch: 16}\nparallel: {tp: 8, zero: {stage: 1}}\n" +
      fmt::format("cluster: {{nodes: 4, node: {{preset: dgx-h100}}, "
                  "fabric: {{type: rail_optimized, scalable_unit: {}, leaf: {{speed: 400Gbps{}}}}}\n",
                  unit, fabric + "}");
  const Scenario scenario = load(text, std::move(overrides));
  const auto outcome = simulate(scenario, FoldMode::kFold);
  std::vector<std::string> keys;
  for (const IgnoredKnob& knob : outcome->report->facts.ignored) {
    if (knob.path.starts_with("cluster.fabric")) keys.push_back(knob.path);
  }
  return keys;
}

TEST(IdleTiers, NamesOversubscriptionThatNoTrafficMeets) {
  const std::string ratio = ", oversubscription: 4";
  EXPECT_THAT(ignored(4, ratio), ElementsAre("cluster.fabric.leaf.oversubscription"));
  EXPECT_THAT(ignored(2, ratio), IsEmpty());  // half of the hosts are below other leaf switches
  EXPECT_THAT(ignored(4, ", oversubscription: 1:1"), IsEmpty());  // nothing to say
  EXPECT_THAT(ignored(4, ratio, {"collectives.model=closed_form"}), IsEmpty());  // no links: not known
}

TEST(IdleTiers, NamesSpeedsOfSpines) {
  EXPECT_THAT(ignored(4, "}, spine: {speed: 800Gbps"), ElementsAre("cluster.fabric.spine.speed"));
  EXPECT_THAT(ignored(4, "}, spine: {speed: 400Gbps"), IsEmpty());  // as the leaves
  EXPECT_THAT(ignored(2, "}, spine: {speed: 800Gbps"), IsEmpty());
}

}  // namespace
}  // namespace ringwright::configs::idle_tiers_test
