#include "planning/servers/server_plan.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/simulation/simulate.h"
#include "tests/configs/played.h"

namespace ringwright::planning::server_plan_test {
namespace {

using testing::HasSubstr;

// One layer of 400 MB on eight hosts with one GPU, which computes in nearly no time, and one NIC of 25 Gb/s.
ServerScenario hosts_with(std::string servers, int workers) {
  return [servers = std::move(servers), workers](const std::vector<std::string>& more) {
    std::vector<std::string> settings{"simulate.steps=4"};
    settings.insert(settings.end(), more.begin(), more.end());
    return Result<configs::Scenario>(configs::load(
        fmt::format("layer_table: {{global_batch: {}, bucket: 1GB, first_bucket: 1GB, optimizer: sgd,\n"
                    "  layers: [{{name: fc, k: 10000, n: 10000, inputs: 10000, epilogue: none}}]{}}}\n"
                    "cluster: {{nodes: 8, node: {{preset: dgx1-v100, gpus: 1, nvlink: {{kind: none}}, nic: {{count: 1, "
                    "bandwidth: 25Gbps, efficiency: 1}}}}, fabric: {{type: fat_tree}}}}\n"
                    "compute: {{model: roofline}}\n",
                    workers, servers),
        settings));
  };
}

// w workers and k servers exchange at least min(w, k) / (2 S / B) times a second, and at most twice as often where
// pushes and pulls of different workers use a port at once: most for half of the hosts each.
TEST(ServerPlan, HalfOfTheHostsAreServersWhereComputingTakesNoTime) {
  const auto plan = plan_servers(hosts_with(", parameter_server: {servers: 1, updates: async, threads: 64}", 7));
  ASSERT_TRUE(plan) << render(plan.error());
  EXPECT_EQ(plan->tried.front().servers, 1);
  EXPECT_EQ(plan->best().servers, 4);
  EXPECT_EQ(plan->best().workers, 4);
  EXPECT_GT(plan->gain(), 2.0);
  EXPECT_LT(plan->gain(), 4.0);
  EXPECT_THAT(render_server_plan_text(*plan), HasSubstr("4 servers"));
  EXPECT_THAT(render_server_plan_json(*plan), HasSubstr("ringwright.server_plan/1"));
}

TEST(ServerPlan, ABestPlanStays) {
  const auto plan = plan_servers(hosts_with(", parameter_server: {servers: 4, updates: async, threads: 64}", 4));
  ASSERT_TRUE(plan) << render(plan.error());
  EXPECT_EQ(plan->best().servers, 4);
  EXPECT_DOUBLE_EQ(plan->gain(), 1.0);
}

TEST(ServerPlan, NeedsDedicatedServers) {
  const auto without = plan_servers(hosts_with("", 8));
  ASSERT_FALSE(without);
  EXPECT_THAT(render(without.error()), HasSubstr("E549"));
}

}  // namespace
}  // namespace ringwright::planning::server_plan_test
