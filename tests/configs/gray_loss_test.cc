// Links that lose packets in a training step: the goodput of retransmission, on every rung and folded exactly.
#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/simulation/simulate.h"
#include "network_models/topologies/lossy_paths.h"
#include "tests/configs/played.h"

namespace ringwright::configs::gray_loss_test {
namespace {

using testing::HasSubstr;

// Four hosts of 8 GPUs on 8 rails, two to a leaf.
std::string scenario_text(std::string_view faults, std::string_view model = "steps", std::string_view nic = "") {
  return fmt::format(
      "model: {{preset: gpt2-1.5b}}\ntraining: {{global_batch: 32, micro_batch: 1, precision: bf16}}\n"
      "parallel: {{dp: auto}}\n"
      "cluster: {{nodes: 4, node: {{preset: dgx-h100{}}}, fabric: {{type: rail_optimized, scalable_unit: 2}}}}\n"
      "collectives: {{model: {}{}}}\nsimulate: {{network: flow}}\n"
      "faults: [{}]\n",
      nic, model, model == "chunks" ? "" : ", overhead: none, dp: {algorithm: rail_rings}", faults);
}

double step_time(const std::string& text, FoldMode fold = FoldMode::kFold) {
  const Scenario scenario = load(text);
  return to_seconds(simulate(scenario, *assemble(scenario, fold)).report->step_time.mean);
}

// The all-reduce, which nothing overlaps, takes as many times as long as packets are sent; the part inside hosts, and
// the messages of the ring whose path is shorter, are below 3 %.
TEST(GrayLoss, LengthensARingByItsRetransmissions) {
  const Scenario healthy = load(scenario_text(""));
  const double alone = to_seconds(play(healthy).in_flight(0, "dp"));
  const double base = step_time(scenario_text(""));
  const auto simulation = assemble(healthy);
  std::vector<Hop> hops;
  // From host 0 to host 1, below one leaf.
  const Duration latency = simulation->network().router->route({.from = RankId(3), .to = RankId(11)}, hops);
  const double one_leaf = 2.0 * to_seconds(latency);
  double rate = HUGE_VAL;
  const auto capacities = simulation->network().router->capacities();
  for (const Hop& hop : hops) rate = std::min(rate, capacities[hop.link.index()].count());
  for (const double loss : {0.001, 0.01, 0.05}) {
    const double expected = network_models::transmissions({.loss = loss, .in_flight = 1.0 + one_leaf * rate / 4096.0});
    const std::string fault =
        fmt::format("{{link: host0/nic3->leaf0.3, direction: one, state: lossy, loss: {}}}", loss);
    const double slower = step_time(scenario_text(fault));
    EXPECT_NEAR((alone + slower - base) / alone, expected, 0.03 * expected) << loss;
  }
}

TEST(GrayLoss, SelectiveRepeatSendsOnlyWhatWasLost) {
  const std::string fault = "{nic: host0/nic3, state: lossy, loss: 5%}";
  const double base = step_time(scenario_text(""));
  const double all = step_time(scenario_text(fault)) - base;
  const double lost = step_time(scenario_text(fault, "steps", ", nic: {retransmission: selective}")) - base;
  const double alone = to_seconds(play(load(scenario_text(""))).in_flight(0, "dp"));
  EXPECT_NEAR(lost / alone, 1.0 / 0.95 - 1.0, 0.005);
  EXPECT_GT(all, 5.0 * lost);
}

TEST(GrayLoss, FoldsExactlyOnEveryRung) {
  for (const std::string_view model : {"steps", "chunks", "coupled"}) {
    for (const std::string_view fault :
         {"{nic: host0/nic3, state: lossy, loss: 1%}",
          "{switch: leaf0.2, state: lossy, loss: 0.1%, at: 70ms, for: 9ms}"}) {
      const std::string text = scenario_text(fault, model);
      EXPECT_DOUBLE_EQ(step_time(text), step_time(text, FoldMode::kNoFold)) << model << fault;
      EXPECT_GT(step_time(text), step_time(scenario_text("", model))) << model << fault;
    }
  }
}

TEST(GrayLoss, RefusesWhatIsNoShare) {
  EXPECT_THAT(refusal_of(scenario_text("{nic: host0/nic3, state: lossy}")), HasSubstr("must state the share of"));
  EXPECT_THAT(refusal_of(scenario_text("{nic: host0/nic3, state: lossy, loss: 100%}")), HasSubstr("loss"));
  EXPECT_THAT(refusal_of(scenario_text("{nic: host0/nic3, loss: 1%}")), HasSubstr("a link that is down has no loss"));
  EXPECT_THAT(refusal_of(scenario_text("{nic: host0/nic3, state: lossy, loss: 1%, failover: balance}")),
              HasSubstr("is for a NIC that is down; this one is not"));
}

}  // namespace
}  // namespace ringwright::configs::gray_loss_test
