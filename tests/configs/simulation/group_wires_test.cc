// Closed forms on real machines: they use the machine's wires, and are close to the steps where nothing is shared.
#include "configs/simulation/group_wires.h"

#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "collectives/steps/library_rings.h"
#include "tests/configs/played.h"

namespace ringwright::configs::group_wires_test {
namespace {

using namespace literals;

constexpr const char* kTwoHosts =
    "cluster: {nodes: 2, node: {preset: dgx-h100, gpus: 4, nvlink: {efficiency: 100%}, pcie: {switches: 2}, "
    "nic: {count: 2, bandwidth: 200Gbps, efficiency: 100%}}, "
    "fabric: {type: fat_tree}}\n";

Scenario data_parallel(const char* cluster, const char* rung, const char* algorithm) {
  return load(std::string(kTinyModel) +
              fmt::format("training: {{global_batch: 16}}\nparallel: {{dp: auto}}\nsimulate: {{network: flow}}\n"
                          "collectives: {{model: {}, overhead: none, dp: {{algorithm: {}, from: 1MiB}}}}\n{}",
                          rung, algorithm, cluster));
}

TEST(GroupWires, SeeThatGpusOfAHostShareItsNics) {
  const Scenario scenario = data_parallel(kTwoHosts, "closed_form", "ring");
  const auto simulation = assemble(scenario);
  const TaskGraph& graph = simulation->plan().graph;
  const GroupWires wires(graph, *simulation->network().router);
  const auto costs = wires({.kind = CollectiveKind::kAllReduce, .bytes = 1_MiB, .layout = &graph.layouts[0],
                            .dimension = DimensionId(0)});
  EXPECT_EQ(costs.between.bandwidth, 200_Gbps);
  EXPECT_EQ(costs.host_outward, 400_Gbps);  // two NICs for four GPUs
  EXPECT_EQ(costs.inside.bandwidth, scenario.cluster.host.nvlink.bandwidth);
  EXPECT_LT(costs.inside.latency, costs.between.latency);
}

// A reduce-scatter of the same size begins inside the hosts, an all-gather between them.
TEST(GroupWires, StepsOfOneKindAreNotThoseOfAnother) {
  const Scenario scenario = data_parallel(
      "cluster: {nodes: 4, node: {preset: dgx-h100, gpus: 4, pcie: {switches: 4}, nic: {count: 4}}, "
      "fabric: {type: torus, dims: [2, 2]}}\n",
      "closed_form", "ring");
  const auto simulation = assemble(scenario);
  const TaskGraph& graph = simulation->plan().graph;
  const auto rings = collectives::make_torus_rings({2, 2});
  const auto call = [&](CollectiveKind kind) {
    return CollectiveCall{.kind = kind, .bytes = 2_MiB, .layout = &graph.layouts[0], .dimension = DimensionId(0)};
  };
  const GroupWires wires(graph, *simulation->network().router);
  const GroupWires others(graph, *simulation->network().router);
  const Bandwidth first = wires(call(CollectiveKind::kAllGather), *rings).step_between.bandwidth;
  const Bandwidth scatter = others(call(CollectiveKind::kReduceScatter), *rings).step_between.bandwidth;
  EXPECT_NE(first, scatter);
  EXPECT_EQ(others(call(CollectiveKind::kAllGather), *rings).step_between.bandwidth, first);
}

TEST(ClosedFormRung, IsNearTheStepsWhereNothingIsShared) {
  for (const char* algorithm : {"ring", "rail_rings", "hierarchical", "halving_doubling"}) {
    const Duration formula = play(data_parallel(kTwoHosts, "closed_form", algorithm)).in_flight(0, "dp");
    const Duration steps = play(data_parallel(kTwoHosts, "steps", algorithm)).in_flight(0, "dp");
    EXPECT_NEAR(ratio(formula, steps), 1.0, 0.03) << algorithm;
  }
}

}  // namespace
}  // namespace ringwright::configs::group_wires_test
