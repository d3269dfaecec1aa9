#include "planning/servers/servers.h"

#include <stdexcept>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/simulation/simulate.h"
#include "tests/configs/played.h"

namespace ringwright::planning::servers_test {
namespace {

using testing::HasSubstr;

// One layer of 400 MB on hosts with one GPU, which computes in nearly no time, and one NIC of 25 Gb/s.
std::string table(int hosts, std::string_view servers) {
  return fmt::format(
      "layer_table: {{global_batch: {}, bucket: 1GB, first_bucket: 1GB, optimizer: sgd,\n"
      "  layers: [{{name: fc, k: 10000, n: 10000, inputs: 10000, epilogue: none}}], parameter_server: {{{}}}}}\n"
      "cluster: {{nodes: {}, node: {{preset: dgx1-v100, gpus: 1, nvlink: {{kind: none}}, nic: {{count: 1, bandwidth: "
      "25Gbps, efficiency: 1}}}}, fabric: {{type: fat_tree}}}}\ncompute: {{model: roofline}}\n",
      24, servers, hosts);
}

ServersResult study(const std::string& text, std::vector<std::string> settings = {}) {
  auto result = study_servers(configs::load(text, std::move(settings)));
  if (!result) throw std::runtime_error(render(result.error()));
  return std::move(*result);
}

// 2 S n / (k B) of n workers and k dedicated servers: incast at the servers' ports.
TEST(Servers, SynchronousOnesTakeTheTimeOfTheirPorts) {
  for (const int servers : {1, 2, 4}) {
    const ServersResult result =
        study(table(8 + servers, fmt::format("servers: {}, threads: 1", servers)), {"simulate.steps=2"});
    const double expected = 2.0 * 0.4 * 8 / servers / 3.125 + to_seconds(result.computing);
    EXPECT_NEAR(to_seconds(result.rows[0].step), expected, 0.1 * expected) << servers;
    EXPECT_EQ(result.rows[0].mean_staleness, 0.0);
  }
}

// The ring goes through the same cables as the servers' messages: a slower port of a leaf switch bounds it.
TEST(Servers, TheRingIsBoundByThePortsOfSwitches) {
  const std::string text = table(10, "servers: 2, threads: 1");
  const auto ring = [&](const char* nic, const char* leaf) {
    const std::vector<std::string> speeds{fmt::format("cluster.node.nic.bandwidth={}", nic),
                                          fmt::format("cluster.fabric.leaf.speed={}", leaf), "simulate.steps=2"};
    return to_seconds(study(text, speeds).ring);
  };
  EXPECT_NEAR(ring("100Gbps", "25Gbps"), ring("25Gbps", "25Gbps"), 1e-9);
  EXPECT_LT(ring("100Gbps", "100Gbps"), 0.5 * ring("25Gbps", "25Gbps"));
}

// The same as the step of `run`, except that in `run` one thread has the whole bandwidth of host memory.
TEST(Servers, SynchronousOnesAgreeWithTheTrainingStep) {
  const std::string text = table(10, "servers: 2, threads: 1");
  const ServersResult result = study(text, {"simulate.steps=2"});
  const auto outcome = configs::simulate(configs::load(text), configs::FoldMode::kFold);
  ASSERT_TRUE(outcome && outcome->report);
  const double step = to_seconds(outcome->report->step_time.mean);
  EXPECT_NEAR(to_seconds(result.rows[0].step), step, 0.1 * step);
}

// Six buckets that are complete at nearly the same time: one is pulled while the next one is pushed, so that with m of
// them the exchange takes (1 + 1 / m) / 2 of what one takes.
TEST(Servers, BucketsArePulledWhileOthersArePushed) {
  const auto exchange = [](int layers) {
    const std::string text = fmt::format(
        "layer_table: {{global_batch: 4, bucket: 30MB, first_bucket: 30MB, optimizer: sgd,\n"
        "  layers: [{{name: fc, k: 4096, n: 4096, inputs: 4096, epilogue: none, count: {}}}],\n"
        "  parameter_server: {{servers: 2, threads: 1}}}}\n"
        "cluster: {{nodes: 6, node: {{preset: dgx1-v100, gpus: 1, nvlink: {{kind: none}}, nic: {{count: 1, bandwidth: "
        "25Gbps, efficiency: 1}}}}, fabric: {{type: fat_tree}}}}\ncompute: {{model: roofline}}\n",
        layers);
    const ServersResult result = study(text, {"simulate.steps=2"});
    const auto outcome = configs::simulate(configs::load(text), configs::FoldMode::kFold);
    EXPECT_TRUE(outcome && outcome->report);
    const double step = to_seconds(outcome->report->step_time.mean), own = to_seconds(result.rows[0].step);
    EXPECT_NEAR(own, step, 0.1 * step) << layers;
    return own - to_seconds(result.computing);
  };
  const double all = 2.0 * 6 * 4096 * 4096 * 4 * 2 / 3.125e9;  // 2 S n / (k B), with n = 4 and k = 2
  EXPECT_NEAR(exchange(6), all * (1.0 + 1.0 / 6.0) / 2.0, 0.1 * all);
}

// Servers with Adam and slow memory: the sum of n pushes and one update, as in `run`, not n updates.
TEST(Servers, SynchronousOnesUpdateOnce) {
  const std::string text = table(10, "servers: 2, threads: 1");
  const std::vector<std::string> slow_memory{"layer_table.optimizer=adam", "cluster.node.memory.bandwidth=4GB/s"};
  std::vector<std::string> two_steps = slow_memory;
  two_steps.emplace_back("simulate.steps=2");
  const ServersResult result = study(text, two_steps);
  const auto outcome = configs::simulate(configs::load(text, slow_memory), configs::FoldMode::kFold);
  ASSERT_TRUE(outcome && outcome->report);
  const double step = to_seconds(outcome->report->step_time.mean);
  EXPECT_NEAR(to_seconds(result.rows[0].step), step, 0.05 * step);
}

// All rules are simulated whatever `updates` says, with the same servers.
TEST(Servers, HaveTheSameRowsWhicheverRuleTheScenarioNames) {
  const std::string own = ", threads: 2, request_time: 50ms, staleness: 1, rpc: {latency: 1ms}";
  const auto rows = [&](const std::string& rest) {
    return study(table(6, "servers: 2" + rest), {"simulate.steps=4"}).rows;
  };
  for (const std::string& keys : {std::string(), own}) {
    const std::vector<ServersRow> sync = rows(keys);
    const std::vector<ServersRow> stale = rows(", updates: ssp" + keys);
    ASSERT_EQ(sync.size(), stale.size());
    for (std::size_t i = 0; i < sync.size(); ++i) {
      EXPECT_EQ(sync[i].updates, stale[i].updates);
      EXPECT_EQ(sync[i].step, stale[i].step) << sync[i].updates;
    }
  }
  EXPECT_EQ(rows(own)[1].updates, "ssp 1");
  EXPECT_NE(rows(own)[2].step, rows(", threads: 2")[2].step);
}

TEST(Servers, KeysThatOnlyTheStudyUsesAreIdleInARun) {
  const configs::Scenario scenario = configs::load(table(6, "servers: 2, threads: 2"));
  EXPECT_THAT(render(warnings_of(scenario)), testing::HasSubstr("parameter_server.threads has no effect"));
  EXPECT_THAT(render(server_warnings(scenario)), testing::Not(testing::HasSubstr("threads")));
}

TEST(Servers, BlocksThatOnlyARunSimulatesAreNamed) {
  const configs::Scenario scenario = configs::load(
      table(6, "servers: 2") + "data_pipeline: {cpu_per_sample: 1s}\ncheckpoint: {to: host_memory, size: 1GB}\n");
  const std::string warnings = render(server_warnings(scenario));
  EXPECT_THAT(warnings, HasSubstr("data_pipeline has no effect"));
  EXPECT_THAT(warnings, HasSubstr("checkpoint has no effect"));
  EXPECT_THAT(render(server_warnings(configs::load(table(6, "servers: 2")))),
              testing::Not(testing::AnyOf(HasSubstr("data_pipeline"), HasSubstr("checkpoint"))));
}

// Workers that compute equally long push and pull in lockstep, as if they waited for each other.
TEST(Servers, EqualWorkersStayInLockstep) {
  const ServersResult result = study(table(5, "servers: 1, updates: async"), {"simulate.steps=10"});
  EXPECT_NEAR(result.rows[2].samples_per_second, result.rows[0].samples_per_second,
              0.01 * result.rows[0].samples_per_second);
  EXPECT_NEAR(result.rows[2].mean_staleness, 3.0, 0.1);
}

TEST(Servers, ASlowHostHoldsBackAllButAsynchronousOnes) {
  const std::string slow = "\nfaults: [{node: 0, compute_scale: 0.3}]\n";
  const std::string text =
      "layer_table: {preset: resnet50, global_batch: 256, parameter_server: {servers: 4, updates: ssp, staleness: 2}}\n"
      "cluster: {nodes: 8, node: {preset: dgx1-v100, gpus: 1, nvlink: {kind: none}}, fabric: {type: fat_tree}}\n"
      "compute: {model: roofline}\nsimulate: {steps: 10}\n";
  const ServersResult even = study(text);
  const ServersResult result = study(text + slow);
  EXPECT_EQ(result.computing, even.computing);
  EXPECT_LT(result.rows[0].samples_per_second, 0.5 * even.rows[0].samples_per_second);
  EXPECT_GT(result.rows[2].samples_per_second, 1.5 * result.rows[0].samples_per_second);
  EXPECT_GT(result.rows[1].waiting, 0.1);
  EXPECT_EQ(result.rows[1].updates, "ssp 2");
  EXPECT_LT(result.rows[2].slowest_share, 0.6);
}

// Workers of servers with one thread drift apart until pushes fill one direction of the port while pulls fill the
// other: n S / B, which is half of the synchronous 2 n S / B.
TEST(Servers, AsynchronousOnesAreThoseInTheEnd) {
  const ServersResult result = study(table(9, "servers: 1, threads: 1"));
  EXPECT_NEAR(to_seconds(result.rows[0].step), 2.0 * 8 * 0.4 / 3.125, 0.15);
  EXPECT_NEAR(to_seconds(result.rows[2].step), 8 * 0.4 / 3.125, 0.06);
  const ServersResult longer = study(table(9, "servers: 1, threads: 1"), {"simulate.steps=50"});
  EXPECT_NEAR(ratio(result.rows[2].step, longer.rows[2].step), 1.0, 0.05);
}

// Without `simulate.steps`, of which one is the default: a slow worker at 0.9 of the speed of the others, whose
// exchange hardly counts, costs three of four workers a tenth where they wait for it, and nothing where they do not.
TEST(Servers, SpeedsOfUnevenWorkersNeedNoStepsToBeGiven) {
  const std::string text =
      "layer_table: {preset: resnet50, global_batch: 256, parameter_server: {servers: 4, threads: 1}}\n"
      "cluster: {nodes: 8, node: {preset: dgx1-v100, gpus: 1, nvlink: {kind: none}}, fabric: {type: fat_tree}}\n"
      "compute: {model: roofline}\n";
  const ServersResult even = study(text);
  const ServersResult uneven = study(text + "faults: [{node: 0, compute_scale: 0.9}]\n");
  const auto kept = [&](std::size_t row) {
    return uneven.rows[row].samples_per_second / even.rows[row].samples_per_second;
  };
  EXPECT_NEAR(kept(0), 0.9, 0.01);
  EXPECT_NEAR(kept(1), 0.9, 0.01);  // in the end, as synchronous ones
  EXPECT_NEAR(kept(2), 1.0 - 0.1 / 4, 0.01);
}

TEST(Servers, RunRefusesAsynchronousOnes) {
  const auto outcome =
      configs::simulate(configs::load(table(5, "servers: 1, updates: async")), configs::FoldMode::kFold);
  ASSERT_FALSE(outcome);
  EXPECT_THAT(render(outcome.error()), HasSubstr("ringwright servers"));
}

TEST(Servers, RefuseFaultsOfLinksAndOtherTraffic) {
  const std::string job = table(5, "servers: 1, updates: async");
  const auto faulty = study_servers(configs::load(job + "faults: [{nic: host0/nic0, at: 1ms, for: 1s}]\n"));
  ASSERT_FALSE(faulty);
  EXPECT_THAT(render(faulty.error()), HasSubstr("faults of links are not simulated"));
  const auto busy = study_servers(configs::load(job + "background: [{from: [0], to: [1], size: 1GB}]\n"));
  ASSERT_FALSE(busy);
  EXPECT_THAT(render(busy.error()), HasSubstr("background"));
}

TEST(Servers, NeedParameterServers) {
  const auto result = study_servers(configs::load(
      "layer_table: {preset: resnet50, global_batch: 64}\ncluster: {nodes: 1, node: {preset: dgx1-v100}}\n"));
  ASSERT_FALSE(result);
  EXPECT_THAT(render(result.error()), HasSubstr("E549"));
}

}  // namespace
}  // namespace ringwright::planning::servers_test
