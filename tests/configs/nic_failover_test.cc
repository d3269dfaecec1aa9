// A NIC that fails during a run: its traffic on the other NICs of the host, against R2CCL's ratios (arXiv 2512.25059).
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/simulation/simulate.h"
#include "tests/configs/played.h"

namespace ringwright::configs::nic_failover_test {
namespace {

using testing::HasSubstr;

// One all-reduce over the rails of four hosts: eight rings, one for each NIC.
std::string scenario_text(std::string_view faults, std::string_view fabric = "rail_optimized",
                          std::string_view model = "steps") {
  return fmt::format(
      "model: {{preset: gpt2-1.5b}}\ntraining: {{global_batch: 32, micro_batch: 1, precision: bf16}}\n"
      "parallel: {{dp: auto}}\n"
      "cluster: {{nodes: 4, node: {{preset: dgx-h100}}, fabric: {{type: {}}}}}\n"
      "collectives: {{model: {}{}}}\nsimulate: {{network: flow}}\nfaults: [{}]\n",
      fabric, model, model == "chunks" ? "" : ", overhead: none, dp: {algorithm: rail_rings}", faults);
}

std::string nics_down(int count, std::string_view mode) {
  std::string text;
  for (int nic = 0; nic < count; ++nic)
    text += fmt::format("{}{{nic: host1/nic{}, failover: {}}}", nic > 0 ? ", " : "", nic, mode);
  return text;
}

RunRecord run(const std::string& text, FoldMode mode = FoldMode::kFold) {
  const Scenario scenario = load(text);
  return play_plan(scenario, *assemble(scenario, mode)).run.record;
}

double step_time(const std::string& text) { return to_seconds(run(text).iteration_end.back().since_start()); }

// Of the all-reduce, which nothing overlaps.
double communication(std::string_view faults, std::string_view fabric = "rail_optimized",
                     std::string_view model = "steps") {
  const std::string healthy = scenario_text("", fabric, model);
  const double alone = to_seconds(play(load(healthy)).in_flight(0, "dp"));
  return alone + step_time(scenario_text(faults, fabric, model)) - step_time(healthy);
}

// With 1, 2 and 4 of 8 NICs lost a ring takes 1 / (1 - X) times as long; the part inside hosts is below 3 %.
TEST(NicFailover, BalanceLengthensARingByTheLostShare) {
  const double healthy = communication("");
  for (const int lost : {1, 2, 4}) {
    const double expected = 1.0 / (1.0 - lost / 8.0);
    EXPECT_NEAR(communication(nics_down(lost, "balance")) / healthy, expected, 0.03 * expected) << lost;
  }
}

TEST(NicFailover, ABackupNicCarriesTwiceItsTraffic) {
  const double healthy = communication("");
  EXPECT_NEAR(communication(nics_down(1, "migrate")) / healthy, 2.0, 0.06);
}

// A share X of a host's NICs lost, n = 32, 4 hosts, 96 slices: the ring's 2 (n-1)/n as without faults, and the second
// stage, X / (1 - X) (1 + 1/4 + 3/96); R2CCL's AllReduce (arXiv 2512.25059). NVLink and latencies add less than 6 %,
// which is as much as a plan for one NIC of eight gains.
TEST(NicFailover, PlannedAllReducesSpareTheHost) {
  const double healthy = communication("");
  for (const int lost : {1, 2, 4}) {
    const double share = lost / 8.0;
    const double expected = 1.0 + share / (1.0 - share) * (1.0 + 1.0 / 4 + 3.0 / 96) / (2.0 * 31 / 32);
    const double planned = communication(nics_down(lost, "replan")) / healthy;
    EXPECT_NEAR(planned, expected, 0.06 * expected) << lost;
    EXPECT_LT(planned, 1.01 * communication(nics_down(lost, "balance")) / healthy) << lost;
  }
  EXPECT_LT(communication(nics_down(4, "replan")), 0.85 * communication(nics_down(4, "balance")));
}

// Half of the NICs of two hosts of four lost, and half and a quarter: the ring's time as without faults, and the second
// stage of the host that lost most, X / (1 - X) (1 + 1/4 + 2/64) / (2 (n-1)/n), by two chains over the other two hosts.
// Each of these also sends half of what hangs on them, over the rails that are left there: up to 10 % more.
TEST(NicFailover, PlannedAllReducesSpareSeveralHosts) {
  const double healthy = communication("");
  const auto two = [](int first, int second, std::string_view mode) {
    std::string text = nics_down(first, mode);
    for (int nic = 0; nic < second; ++nic) text += fmt::format(", {{nic: host2/nic{}, failover: {}}}", nic, mode);
    return text;
  };
  const double expected = 1.0 + 1.0 * (1.0 + 1.0 / 4 + 2.0 / 64) / (2.0 * 31 / 32);
  for (const int second : {2, 4}) {
    const double planned = communication(two(4, second, "replan")) / healthy;
    EXPECT_GT(planned, 0.98 * expected) << second;
    EXPECT_LT(planned, 1.1 * expected) << second;
    EXPECT_LT(planned, 0.92 * communication(two(4, second, "balance")) / healthy) << second;
  }
}

// With a chunk of 1 MiB, 8 of them in a buffer, the connections of the NIC send at most one each again: 1 MiB over a
// seventh of 7 x 50 GB/s is 21 us.
TEST(NicFailover, TheUnacknowledgedChunkIsSentAgain) {
  const auto time = [](std::string_view bytes) {
    return step_time(scenario_text("{nic: host1/nic0, at: 60ms, failover: balance}") +
                     fmt::format("comm: {{env: {{NCCL_BUFFSIZE: {}}}}}\n", bytes));
  };
  const double tiny = time("1024");
  const double large = time("134217728");
  EXPECT_GT(large, tiny);
  EXPECT_LT(large, tiny + 1e-3);
}

TEST(NicFailover, FindsPathsOnEveryFabricAndRung) {
  for (const std::string_view fabric : {"rail_optimized", "rail_only", "fat_tree"}) {
    for (const std::string_view model : {"steps", "chunks", "coupled"}) {
      SCOPED_TRACE(fmt::format("{} {}", fabric, model));
      const double healthy = communication("", fabric, model);
      const double moved = communication(nics_down(1, "migrate"), fabric, model);
      const double spread = communication(nics_down(1, "balance"), fabric, model);
      EXPECT_GT(spread, 1.05 * healthy);
      EXPECT_GT(moved, 1.05 * spread);
      EXPECT_LT(moved, 2.2 * healthy);
    }
  }
}

// In the middle of a collective: what has arrived stays, the rest waits and then takes the other NICs.
TEST(NicFailover, WaitsUntilTrafficHasMoved) {
  const auto time = [](std::string_view key) {
    const std::string fault = fmt::format("{{nic: host1/nic0, at: 60ms, for: 10s{}}}", key);
    return step_time(scenario_text(fault));
  };
  const double at_once = time(", failover: balance");
  EXPECT_LT(at_once, 1.15 * step_time(scenario_text("")));
  EXPECT_NEAR(time(", failover: balance, reroute_after: 2s"), 2.0 + at_once, 0.02);
  EXPECT_GT(time(""), 10.0);
}

TEST(NicFailover, FoldsExactly) {
  for (const std::string_view mode : {"migrate", "balance", "replan"}) {
    for (const std::string_view when : {"at: 0s", "at: 60ms, for: 20ms, reroute_after: 5ms", "at: 70ms"}) {
      if (mode == "replan" && when != "at: 0s") continue;
      const std::string fault = fmt::format("{{nic: host2/nic5, {}, failover: {}}}", when, mode);
      const std::string text = scenario_text(fault, mode == "replan" ? "rail_optimized" : "rail_only");
      EXPECT_EQ(run(text).iteration_end, run(text, FoldMode::kNoFold).iteration_end) << fault;
    }
  }
}

TEST(NicFailover, MistakesAreReported) {
  const auto problem = [](std::string_view fault) { return refusal_of(scenario_text(fault)); };
  EXPECT_THAT(problem("{nic: host1/nic0, state: degraded, factor: 0.5, failover: balance}"), HasSubstr("degraded"));
  EXPECT_THAT(problem("{link: leaf0.0->spine0.0, failover: balance}"), HasSubstr("is for a 'nic'"));
  EXPECT_THAT(problem("{nic: host1/nic0, reroute_after: 1s}"), HasSubstr("it has one cable"));
  EXPECT_THAT(problem("{nic: host1/nic0, at: 1ms, failover: replan}"), HasSubstr("down from 0 s on"));
  EXPECT_THAT(refusal_of(scenario_text("{nic: host1/nic0, failover: replan}", "rail_only")),
              HasSubstr("connects none"));
  EXPECT_THAT(refusal_of(scenario_text("{nic: host1/nic0, failover: replan}", "fat_tree", "chunks")),
              HasSubstr("plans the steps"));
  EXPECT_THAT(problem("{nic: host1/nic0, failover: migrat}"), HasSubstr("did you mean 'migrate'?"));
}

}  // namespace
}  // namespace ringwright::configs::nic_failover_test
