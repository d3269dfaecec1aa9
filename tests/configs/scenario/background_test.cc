// Background traffic from YAML to the step time: the job does not yield to low priority, and shares with high priority.
#include "configs/scenario/background.h"

#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/simulation/simulate.h"
#include "tests/configs/played.h"

namespace ringwright::configs::background_test {
namespace {

using namespace literals;
using testing::HasSubstr;

// Two hosts with one GPU and one NIC of 25 GB/s each: the all-reduce of gradients has the wire to itself.
std::string two_hosts(std::string_view background, std::string_view network = "flow") {
  return std::string(kTinyModel) +
         fmt::format(
             "training: {{global_batch: 2}}\nparallel: {{dp: auto}}\n"
             "collectives: {{dp: {{algorithm: ring}}}}\nsimulate: {{network: {}}}\n"
             "cluster: {{nodes: 2, node: {{preset: dgx-h100, gpus: 1, pcie: {{switches: 1}}, nvlink: {{kind: none}}, "
             "nic: {{count: 1, bandwidth: 200Gbps, efficiency: 100%}}}}, fabric: {{type: fat_tree}}}}\n{}\n",
             network, background);
}

// Longer than the step: it is in flight when the job ends.
constexpr std::string_view kLow = "background: [{from: [0], to: [1], size: 100GB}]";
constexpr std::string_view kHigh = "background: [{from: [0], to: [1], size: 100GB, priority: high}]";

TEST(Background, OfLowPriorityTakesNothingFromTheJob) {
  EXPECT_EQ(play(load(two_hosts(kLow))).time(), play(load(two_hosts(""))).time());
}

TEST(Background, OfEqualPriorityHalvesTheWire) {
  const Played alone = play(load(two_hosts("")));
  const Played shared = play(load(two_hosts(kHigh)));
  // GPU 0's sends run at half the rate, and both members wait for them: the bandwidth term of the all-reduce doubles.
  const Duration wire = transfer_time(alone.sent(0, "dp"), 25_GBps);
  EXPECT_NEAR(to_seconds(shared.in_flight(0, "dp") - alone.in_flight(0, "dp")), to_seconds(wire),
              0.01 * to_seconds(wire));
}

TEST(Background, LaterThanTheJobHasNoEffect) {
  const Played late = play(load(two_hosts("background: [{from: [0], to: [1], size: 1GB, at: 1000s}]")));
  EXPECT_EQ(late.time(), play(load(two_hosts(""))).time());
  EXPECT_EQ(late.outcome, RunOutcome::kFinished);
}

TEST(Background, SetsApartOnlyWhomItTouches) {
  const std::string text =
      std::string(kTinyModel) +
      "training: {global_batch: 32}\nparallel: {tp: 8, dp: auto}\ncollectives: {dp: {algorithm: halving_doubling}}\n"
      "cluster: {nodes: 4, node: {preset: dgx-h100}, fabric: {type: rail_optimized, scalable_unit: 2, leaf: {ports: "
      "4}, "
      "spine: {ports: 16}}}\n"
      "background: [{from: [0, 9], to: [16, 25], size: 1GB, repeats: 3, priority: high}, {from: [3], to: [4], size: "
      "1MB}]\n";
  const Scenario scenario = load(text);
  const Played folded = play(scenario, FoldMode::kFold);
  const Played whole = play(scenario, FoldMode::kNoFold);
  EXPECT_EQ(folded.finished_at, whole.finished_at);
  EXPECT_LE(folded.folding.ranks.count(), whole.folding.ranks.count());
}

TEST(Background, IsReportedInTheReport) {
  const Scenario scenario = load(two_hosts(kLow));
  const Outcome outcome = simulate(scenario, *assemble(scenario));
  ASSERT_TRUE(outcome.report.has_value());
  EXPECT_THAT(render_json(*outcome.report), HasSubstr("background traffic: 1 GPU sends"));
}

TEST(Background, IsListedAsIgnoredWhereNobodyShares) {
  const Scenario scenario = load(two_hosts(kLow, "alpha_beta"));
  EXPECT_TRUE(scenario.background.transfers.empty());
  EXPECT_FALSE(scenario.document.log().ignored().empty());
}

TEST(Background, RefusesGpusThatAreNotThere) {
  struct Case {
    const char* entry;
    const char* message;
  };
  for (const Case& c : {Case{"{from: [0], to: [2], size: 1GB}", "names GPU 2, but there are 2, numbered from 0"},
                        Case{"{from: [0, 1], to: [1], size: 1GB}", "the numbers must be equal"},
                        Case{"{from: [1], to: [1], size: 1GB}", "GPU 1 would send to itself"},
                        Case{"{from: [], to: [1], size: 1GB}", "must name at least one GPU"}}) {
    const auto scenario = load_scenario_text("test.yaml", two_hosts(fmt::format("background: [{}]", c.entry)));
    ASSERT_FALSE(scenario.has_value()) << c.entry;
    EXPECT_THAT(render(scenario.error()), HasSubstr(c.message));
  }
}


TEST(Background, ThatNothingMeetsInClosedFormIsListedAndNotPlayed) {
  const Scenario scenario = load(two_hosts("background: [{from: [0], to: [1], size: 1MB, priority: high}]"),
                                 {"collectives.model=closed_form"});
  const auto outcome = simulate(scenario, *assemble(scenario));
  EXPECT_THAT(outcome.report->facts.faults, testing::IsEmpty());
  EXPECT_THAT(outcome.report->facts.ignored, testing::Contains(testing::Field(&IgnoredKnob::path, "background[0]")));
}

}  // namespace
}  // namespace ringwright::configs::background_test
