// Dual ToR in a training step: a port or a leaf that dies leaves half of a NIC, and no job ends.
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/simulation/simulate.h"
#include "tests/configs/played.h"

namespace ringwright::configs::dual_tor_test {
namespace {

using testing::HasSubstr;

// One all-reduce over the rails of four hosts: eight rings, one for each NIC. Two hosts on a leaf.
std::string scenario_text(std::string_view faults, std::string_view more = "dual_tor: true") {
  return fmt::format(
      "model: {{preset: gpt2-1.5b}}\ntraining: {{global_batch: 32, micro_batch: 1, precision: bf16}}\n"
      "parallel: {{dp: auto}}\n"
      "cluster: {{nodes: 4, node: {{preset: dgx-h100}}, fabric: {{type: rail_optimized, scalable_unit: 2, {}}}}}\n"
      "collectives: {{model: steps, overhead: none, dp: {{algorithm: rail_rings}}}}\nsimulate: {{network: flow}}\n"
      "faults: [{}]\n",
      more, faults);
}

double step_time(const std::string& text, FoldMode fold = FoldMode::kFold) {
  const Scenario scenario = load(text);
  const Outcome outcome = simulate(scenario, *assemble(scenario, fold));
  return outcome.report ? to_seconds(outcome.report->step_time.mean) : -1.0;
}

// Of the all-reduce, which nothing overlaps.
double communication(std::string_view faults) {
  const std::string healthy = scenario_text("");
  return to_seconds(play(load(healthy)).in_flight(0, "dp")) + step_time(scenario_text(faults)) - step_time(healthy);
}

// Both ports together are the NIC: without faults the second leaf changes nothing but rounding to picoseconds.
TEST(DualTor, IsAsFastAsOneLeafWithoutFaults) {
  EXPECT_NEAR(step_time(scenario_text("")), step_time(scenario_text("", "dual_tor: false")), 1e-9);
}

// The slowest ring decides: half of its NIC is twice its time; the part inside hosts is below 3 %.
TEST(DualTor, HalvesTheNicWhosePortOrLeafIsDown) {
  const double healthy = communication("");
  for (const std::string_view fault : {"{nic_port: host1/nic3.0}", "{nic_port: host1/nic3.1}", "{switch: leaf0.6}",
                                       "{link: host1/nic3->leaf0.7}"}) {
    EXPECT_NEAR(communication(fault) / healthy, 2.0, 0.06) << fault;
  }
}

TEST(DualTor, NeitherStopsNorEndsAJobWhereOneLeafDoes) {
  const std::string fault = "{switch: leaf0.6, at: 40ms}";
  EXPECT_GT(step_time(scenario_text(fault)), step_time(scenario_text("")));
  EXPECT_LT(step_time(scenario_text("{switch: leaf0.3, at: 40ms}", "dual_tor: false")), 0.0);  // NCCL ends the job
}

TEST(DualTor, WaitsUntilRoutingHasMoved) {
  const double at_once = step_time(scenario_text("{nic_port: host1/nic3.0, at: 70ms, for: 10s}"));
  const double later = step_time(scenario_text("{nic_port: host1/nic3.0, at: 70ms, for: 10s, reroute_after: 2s}"));
  EXPECT_NEAR(later, 2.0 + at_once, 0.04);
}

TEST(DualTor, FoldsExactly) {
  for (const std::string_view fault : {"{nic_port: host1/nic3.0, at: 70ms}", "{switch: leaf0.6, at: 70ms, for: 10ms}",
                                       "{nic_port: host1/nic3.1, state: degraded, factor: 0.3}"}) {
    const std::string text = scenario_text(fault);
    EXPECT_DOUBLE_EQ(step_time(text), step_time(text, FoldMode::kNoFold)) << fault;
  }
}

TEST(DualTor, NamesThePortsAndSwitchesThatThereAre) {
  EXPECT_THAT(refusal_of(scenario_text("{nic: host1/nic3}"), {"cluster.fabric.leaf.ports=2"}), HasSubstr("E120"));
  EXPECT_THAT(refusal_of(scenario_text("{nic_port: host1/nic3.2}")), HasSubstr("'host1/nic3' has 2 ports"));
  EXPECT_THAT(refusal_of(scenario_text("{nic_port: host1/nic3}")), HasSubstr("a port is NIC.NUMBER"));
  EXPECT_THAT(refusal_of(scenario_text("{nic_port: host1/gpu3.0}")), HasSubstr("'host1/gpu3' is no NIC"));
  EXPECT_THAT(refusal_of(scenario_text("{switch: leaf0.16}")), HasSubstr("did you mean 'leaf0.1"));
  EXPECT_THAT(refusal_of(scenario_text("{switch: host0/nic0}")), HasSubstr("is no switch of the network"));
  EXPECT_THAT(refusal_of(scenario_text("{nic_port: host1/nic3.0, reroute_after: 1s}", "dual_tor: false")),
              HasSubstr("no effect on the only port of a NIC"));
}

}  // namespace
}  // namespace ringwright::configs::dual_tor_test
