// The bandwidths of hosts by which AdapCC's trees are ordered: of degraded NICs, and of groups of hosts.
#include "configs/simulation/host_speeds.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/configs/played.h"

namespace ringwright::configs::host_speeds_test {
namespace {

// Of the groups whose hosts differ.
std::vector<std::vector<double>> speeds_of(const std::string& rest) {
  const Scenario scenario = load(
      "model: {preset: gpt2-1.5b}\ntraining: {global_batch: 64, micro_batch: 1, precision: bf16}\n"
      "parallel: {dp: auto}\n" + rest);
  const auto simulation = assemble(scenario);
  std::vector<std::vector<double>> all;
  for (const auto& [layout, speeds] : host_speeds_of_groups(simulation->plan().graph, scenario)) all.push_back(speeds);
  return all;
}

const std::string kTwoHosts = "cluster: {nodes: 2, node: {preset: dgx-a100}}\n";

TEST(HostSpeeds, AreEmptyWhereHostsAreAlike) {
  EXPECT_TRUE(speeds_of(kTwoHosts).empty());
  EXPECT_TRUE(speeds_of(kTwoHosts + "faults: [{nic: host1/nic0, state: degraded, factor: 0.5, for: 1s}]\n").empty());
}

// One of eight NICs at half its rate: 15/16 of the host's bandwidth.
TEST(HostSpeeds, FollowDegradedNics) {
  const auto all = speeds_of(kTwoHosts + "faults: [{nic: host1/nic0, state: degraded, factor: 0.5}]\n");
  ASSERT_FALSE(all.empty());
  ASSERT_EQ(all.front().size(), 2U);
  EXPECT_DOUBLE_EQ(all.front()[1] / all.front()[0], 15.0 / 16.0);
}

TEST(HostSpeeds, FollowGroupsOfHosts) {
  const auto all = speeds_of(
      "cluster:\n  groups:\n    - {nodes: 1, node: {preset: dgx-a100}}\n    - {nodes: 1, node: {preset: dgx-h100}}\n");
  ASSERT_FALSE(all.empty());
  EXPECT_GT(all.front()[1], 1.5 * all.front()[0]);
}

}  // namespace
}  // namespace ringwright::configs::host_speeds_test
