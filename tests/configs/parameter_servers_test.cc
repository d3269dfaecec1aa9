// Layer tables with parameter servers: the closed forms of pushes and pulls, folding, and what is refused.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/simulation/simulate.h"
#include "core/report/report.h"
#include "tests/configs/played.h"

namespace ringwright::configs::parameter_servers_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using Settings = std::vector<std::string>;

// 4096 x 4096 + 4096 weights.
constexpr double kGradients = 4.0 * (4096.0 * 4096 + 4096);
constexpr double kNic = 12.5e9;  // 100 Gb/s: less than PCIe

struct Servers {
  int nodes = 0;
  int gpus = 1;
  int count = 0;
  bool dedicated = true;
};

// GPUs and host memory of no time: what remains are the messages.
std::string with(const Servers& servers, const std::string& bucket = "1GiB") {
  const int workers = (servers.nodes - (servers.dedicated ? servers.count : 0)) * servers.gpus;
  const std::string own = servers.count == 0 ? ""
                                             : fmt::format("  parameter_server: {{servers: {}, dedicated: {}}}\n",
                                                           servers.count, servers.dedicated);
  return fmt::format(
      "layer_table:\n  global_batch: {}\n  bucket: {}\n  first_bucket: {}\n{}"
      "  layers: [{{name: fc, k: 4096, n: 4096, inputs: 4096, relu: false}}]\n"
      "collectives: {{model: steps, overhead: none, tuner: simple}}\n"
      "cluster: {{nodes: {}, node: {{preset: dgx-a100, gpus: {}, nic: {{bandwidth: 100Gbps, efficiency: 1.0}}, "
      "memory: {{bandwidth: 100000TB/s, latency: 0s}},"
      " gpu: {{peak: {{fp32: 100000TFLOPS}}, memory_bandwidth: 100000TB/s, kernel_launch: 0s}}}},"
      " fabric: {{type: fat_tree}}}}\ncompute: {{model: roofline}}\n",
      workers, bucket, bucket, own, servers.nodes, servers.gpus);
}

double seconds(const Servers& servers, const Settings& settings = {}) {
  return to_seconds(play(load(with(servers), settings)).time());
}

// A push and a pull of one bucket: a worker sends S, a server receives n S / k (formulas of docs/layer-tables.md).
TEST(ParameterServers, DedicatedOnesTakeTheLoadOfTheBusiestPort) {
  for (const Servers servers : {Servers{.nodes = 5, .count = 1}, Servers{.nodes = 10, .count = 2},
                                Servers{.nodes = 8, .count = 4}, Servers{.nodes = 6, .count = 4}}) {
    const double workers = servers.nodes - servers.count;
    const double least = 2 * kGradients * std::max(1.0, workers / servers.count) / kNic;
    const double time = seconds(servers);
    EXPECT_GT(time, least) << servers.nodes << " " << servers.count;
    EXPECT_LT(time, least * 1.01 + 20e-6) << servers.nodes << " " << servers.count;
  }
}

// With a server on every host the traffic is that of a ring, 2 (n - 1) / n of the gradients.
TEST(ParameterServers, OneOnEveryHostIsAsFastAsARing) {
  const double servers = seconds({.nodes = 8, .count = 8, .dedicated = false});
  const double ring = seconds({.nodes = 8}, {"collectives.dp.algorithm=ring"});
  EXPECT_NEAR(servers, 2 * kGradients * 7 / 8 / kNic, 30e-6);
  EXPECT_NEAR(servers / ring, 1.0, 0.02);
}

// Fewer servers than workers are never faster than a ring, more dedicated ones never by more than n / (n - 1).
TEST(ParameterServers, ARingIsFasterThanFewServers) {
  const double ring = seconds({.nodes = 8}, {"collectives.dp.algorithm=ring"});
  double before = 1e9;
  for (const int count : {1, 2, 4, 8}) {
    const double time = seconds({.nodes = 8 + count, .count = count});
    EXPECT_LT(time, before) << count;
    EXPECT_GT(time, ring) << count;
    before = time;
  }
}

// The GPUs of a host add their gradients first; each pushes an eighth over its own NIC.
TEST(ParameterServers, GpusOfAHostPushOverTheirOwnNics) {
  const double one = seconds({.nodes = 5, .gpus = 1, .count = 1});
  const double eight = seconds({.nodes = 5, .gpus = 8, .count = 1});
  EXPECT_LT(eight, one / 6);
  EXPECT_GT(eight, one / 8);
}

// A server reads and writes host memory: 3 passes for each push but the first, which takes 2, and 3 + 2 of the update
// with momentum: 4 workers take 11 + 5 passes over its gradients.
TEST(ParameterServers, UpdatesTakeTheTimeOfHostMemory) {
  const Servers servers{.nodes = 5, .count = 1};
  const double passes = 3.0 * 4 - 1 + 3 + 2;
  const Settings slow = {"cluster.node.memory.bandwidth=10GB/s"};
  EXPECT_NEAR(seconds(servers, slow) - seconds(servers), passes * kGradients / 10e9, 0.01 * passes * kGradients / 10e9);
}

// Buckets of a layer each: the pull of one overlaps with the push of the next one, on links of two directions.
TEST(ParameterServers, PushesAndPullsOfBucketsOverlap) {
  const std::string layers = "layer_table.layers=[{name: fc, k: 4096, n: 4096, inputs: 4096, relu: false, count: 8}]";
  const Servers servers{.nodes = 5, .count = 1};
  const double one = to_seconds(play(load(with(servers), {layers})).time());
  const double eight = to_seconds(play(load(with(servers, "1KiB"), {layers})).time());
  EXPECT_NEAR(eight / one, 9.0 / 16, 0.01);
}

TEST(ParameterServers, FoldedAreAsUnfolded) {
  for (const Servers servers : {Servers{.nodes = 5, .gpus = 4, .count = 1}, Servers{.nodes = 6, .gpus = 2, .count = 2},
                                Servers{.nodes = 4, .gpus = 2, .count = 4, .dedicated = false},
                                Servers{.nodes = 6, .gpus = 2, .count = 2, .dedicated = false}}) {
    for (const char* setting : {"collectives.model=steps", "collectives.model=coupled",
                                "collectives.model=closed_form", "collectives.overhead=kernels",
                                "cluster.fabric.routing.policy=ecmp", "cluster.fabric.leaf.oversubscription=4"}) {
      const Scenario scenario = load(with(servers), {setting});
      const Played folded = play(scenario, FoldMode::kFold);
      const Played whole = play(scenario, FoldMode::kNoFold);
      EXPECT_EQ(folded.record.iteration_end, whole.record.iteration_end) << servers.nodes << " " << setting;
    }
  }
}

TEST(ParameterServers, EveryModelOfCollectivesIsNearTheSteps) {
  const Servers servers{.nodes = 10, .gpus = 2, .count = 2};
  const double steps = seconds(servers);
  EXPECT_NEAR(seconds(servers, {"collectives.model=coupled"}) / steps, 1.0, 0.02);
  EXPECT_NEAR(seconds(servers, {"collectives.model=closed_form"}) / steps, 1.0, 0.1);
}

TEST(ParameterServers, AreReported) {
  const auto outcome = simulate(load(with({.nodes = 5, .gpus = 2, .count = 1})), FoldMode::kFold);
  ASSERT_TRUE(outcome && outcome->report);
  EXPECT_THAT(render_text(*outcome->report), HasSubstr("DP 8, 1 dedicated parameter server, 1 gradient bucket"));
  EXPECT_THAT(render_json(*outcome->report), HasSubstr("\"parameter_server\""));
}

// 4 of 5 hosts train, with 2 workers each of 10 samples a second; all 5 where servers train as well.
TEST(ParameterServers, DedicatedOnesHaveNoDataWorkers) {
  const auto rate = [](bool dedicated) {
    const std::string text = with({.nodes = 5, .gpus = 1, .count = 1, .dedicated = dedicated}) +
                             "data_pipeline: {cpu_per_sample: 100ms, local_workers: 2}\n";
    const auto outcome = simulate(load(text), FoldMode::kFold);
    return outcome->report->facts.data->samples_per_second;
  };
  EXPECT_DOUBLE_EQ(rate(true), 80.0);
  EXPECT_DOUBLE_EQ(rate(false), 100.0);
}

TEST(ParameterServers, ASlowHostThatOnlyServesIsNamed) {
  const auto warnings = [](int host) {
    const std::string fault = fmt::format("faults: [{{node: {}, compute_scale: 0.5}}]\n", host);
    return render(warnings_of(load(with({.nodes = 5, .gpus = 1, .count = 1}) + fault)));
  };
  EXPECT_THAT(warnings(4), HasSubstr("faults[0].node has no effect: host4 is a dedicated parameter server"));
  EXPECT_THAT(warnings(3), Not(HasSubstr("faults[0].node")));
}

TEST(ParameterServers, MistakesAreNamedWithTheirFix) {
  const auto refusal = [](const Servers& servers, const Settings& settings = {}) {
    return refusal_of(with(servers), settings);
  };
  // The batch cannot be judged by a number of workers that is not known.
  EXPECT_THAT(refusal({.nodes = 4, .gpus = 1, .count = 2}, {"layer_table.parameter_server.servers=4"}),
              AllOf(HasSubstr("set layer_table.parameter_server.servers: 3"), Not(HasSubstr("E541"))));
  EXPECT_THAT(refusal({.nodes = 4, .count = 2}, {"layer_table.parameter_server.servers=0"}), HasSubstr("E106"));
  EXPECT_THAT(refusal({.nodes = 4, .count = 2}, {"collectives.model=chunks"}), HasSubstr("E549"));
  EXPECT_THAT(refusal({.nodes = 4, .count = 2, .dedicated = false}, {"layer_table.parameter_server.server=2"}),
              HasSubstr("did you mean"));
}

}  // namespace
}  // namespace ringwright::configs::parameter_servers_test
