// Faults that begin at a share of a step: equal to those at the computed time, and refused where there is none.
#include "configs/simulation/fault_times.h"

#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/simulation/simulate.h"
#include "tests/configs/played.h"

namespace ringwright::configs::fault_times_test {
namespace {

using testing::HasSubstr;

// One step of warm-up and two that count, on two hosts of 8 GPUs.
std::string scenario_text(std::string_view faults) {
  return std::string(kTinyModel) +
         fmt::format(
             "training: {{global_batch: 64}}\nparallel: {{dp: auto}}\nsimulate: {{warmup: 1, steps: 2}}\n"
             "cluster: {{nodes: 2, node: {{preset: dgx-h100}}, fabric: {{type: rail_optimized}}}}\nfaults: [{}]\n",
             faults);
}

Duration step(const std::string& text, FoldMode fold = FoldMode::kFold) {
  Scenario scenario = load(text);
  const Diagnostics wrong = settle_fault_times(scenario);
  EXPECT_FALSE(wrong.has_errors()) << render(wrong);
  return simulate(scenario, fold)->report->step_time.mean;
}

// 240 % is 40 % of the third step.
TEST(FaultTimes, AreThoseOfTheRunWithoutTheFault) {
  const std::vector<TimePoint> ends = play(load(scenario_text(""))).record.iteration_end;
  ASSERT_EQ(ends.size(), 3U);
  const Duration begin = ends[1].since_start() + scale(ends[2] - ends[1], 0.4);
  for (const std::string_view kind : {"state: degraded, factor: 0.1", "state: degraded, factor: 0.1, for: 10us",
                                      "state: lossy, loss: 2%"}) {
    const std::string at_step = scenario_text(fmt::format("{{nic: host0/nic0, {}, at_step: 240%}}", kind));
    const std::string at =
        scenario_text(fmt::format("{{nic: host0/nic0, {}, at: {}ps}}", kind, begin.count()));
    EXPECT_EQ(step(at_step), step(at)) << kind;
    EXPECT_EQ(step(at_step), step(at_step, FoldMode::kNoFold)) << kind;
  }
}

TEST(FaultTimes, FollowTheOtherFaults) {
  const std::string slow = "{nic: host1/nic0, state: degraded, factor: 0.05}";
  Scenario scenario = load(scenario_text(slow + ", {nic: host0/nic0, state: degraded, factor: 0.5, at_step: 0.5}"));
  ASSERT_FALSE(settle_fault_times(scenario).has_errors());
  const Scenario alone = load(scenario_text(slow));
  const TimePoint first = play_plan(alone, *assemble(alone)).run.record.iteration_end.front();
  EXPECT_EQ(scenario.faults.ordered.back().at, TimePoint(scale(first.since_start(), 0.5)));
  EXPECT_THAT(scenario.faults.ordered.back().text, HasSubstr("at 0.5 of its bandwidth from "));
}

TEST(FaultTimes, RefuseWhatTheRunDoesNotHave) {
  Scenario beyond = load(scenario_text("{nic: host0/nic0, at_step: 3.5}"));
  EXPECT_THAT(render(settle_fault_times(beyond)), HasSubstr("the run has 3 steps"));
  const Scenario unsettled = load(scenario_text("{nic: host0/nic0, at_step: 0.5}"));
  const auto outcome = simulate(unsettled, FoldMode::kFold);
  ASSERT_FALSE(outcome.has_value());
  EXPECT_THAT(render(outcome.error()), HasSubstr("E642"));
  EXPECT_THAT(refusal_of(scenario_text("{nic: host0/nic0, at: 1ms, at_step: 0.5}")), HasSubstr("two times of one"));
  EXPECT_THAT(refusal_of(scenario_text("{node: 0, compute_scale: 0.5, at_step: 0.5}")), HasSubstr("whole run"));
  EXPECT_THAT(refusal_of(scenario_text("{nic: host0/nic0, at_step: -1}")), HasSubstr("at_step"));
}

}  // namespace
}  // namespace ringwright::configs::fault_times_test
