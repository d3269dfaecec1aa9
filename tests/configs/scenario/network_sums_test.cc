// Fabrics whose switches reduce: NCCL's use of them, and its choices without them.
#include "configs/scenario/network_sums.h"

#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/simulation/collective_run.h"

namespace ringwright::configs::network_sums_test {
namespace {

using namespace literals;
using testing::HasSubstr;

constexpr std::string_view kFourHosts =
    "cluster:\n"
    "  nodes: 4\n"
    "  node: {preset: dgx-h100}\n"
    "  fabric: {type: rail_optimized, reduction: {enabled: true}}\n"
    "collectives: {model: chunks}\n"
    "comm: {env: {NCCL_COLLNET_ENABLE: 1}}\n";

Scenario machine(std::vector<std::string> overrides = {}) {
  auto scenario = load_machine_text("machine.yaml", kFourHosts, {.overrides = std::move(overrides)});
  if (!scenario) throw std::runtime_error(render(scenario.error()));
  return std::move(*scenario);
}

CollectiveResult all_reduce(const Scenario& scenario, Bytes bytes) {
  CollectiveBench bench(scenario);
  auto result = bench.run({.bytes = bytes});
  if (!result) throw std::runtime_error(render(result.error()));
  return *result;
}

// Rings send each byte of the buffer nearly twice through the NICs, switch reduction sends it once.
TEST(NetworkSums, LongAllReducesOverHostsAreFasterThanRings) {
  const CollectiveResult sums = all_reduce(machine(), 256_MiB);
  const CollectiveResult rings = all_reduce(machine({"comm.env.NCCL_ALGO=Ring"}), 256_MiB);
  EXPECT_EQ(sums.algorithm, "nvls");
  EXPECT_LT(sums.time, rings.time);
}

TEST(NetworkSums, ArePlayedByEveryAlgorithmOfCollnet) {
  for (const auto& [variable, name] :
       {std::pair("CollnetDirect", "collnet_direct"), {"CollnetChain", "collnet_chain"}}) {
    EXPECT_EQ(all_reduce(machine({std::string("comm.env.NCCL_ALGO=") + variable}), 1_MiB).algorithm, name);
  }
}

// Small reductions take as long over 32 hosts as over 4, except for the spines' latency.
TEST(NetworkSums, TakeHardlyLongerOverMoreHosts) {
  const std::string algorithm = "comm.env.NCCL_ALGO=CollnetDirect";
  const Duration few = all_reduce(machine({algorithm}), Bytes(1024)).time;
  const Duration many = all_reduce(machine({algorithm, "cluster.nodes=32"}), Bytes(1024)).time;
  EXPECT_LT(many - few, 3_us);
}

TEST(NetworkSums, NcclGoesWithoutThemWhereSwitchesAddNothing) {
  const Scenario scenario = machine({"cluster.fabric.reduction.enabled=false"});
  const Diagnostics& diagnostics = scenario.document.log().diagnostics();
  ASSERT_EQ(diagnostics.all().size(), 1U);
  EXPECT_EQ(diagnostics.all()[0].code, "E186");
  EXPECT_THAT(diagnostics.all()[0].hint, HasSubstr("cluster.fabric.reduction"));
  EXPECT_EQ(all_reduce(scenario, 256_MiB).algorithm, "nvls_tree");
}

TEST(NetworkSums, APlanThatNeedsThemIsAMistakeWhereThereAreNone) {
  const auto scenario = load_machine_text("machine.yaml", kFourHosts,
                                          {.overrides = {"cluster.fabric.reduction.enabled=false",
                                                         "comm.plan.algorithm=collnet_chain", "comm.plan.channels=4"}});
  ASSERT_FALSE(scenario);
  EXPECT_THAT(render(scenario.error()), HasSubstr("CollNet needs a fabric whose switches reduce"));
}

}  // namespace
}  // namespace ringwright::configs::network_sums_test
