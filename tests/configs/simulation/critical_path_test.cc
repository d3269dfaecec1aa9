#include "configs/simulation/critical_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/simulation/simulate.h"
#include "tests/configs/played.h"

namespace ringwright::configs::critical_path_test {
namespace {

using ::testing::HasSubstr;

std::string text_of(const std::string& parallel, const std::string& more = "") {
  return std::string(kTinyModel) + "training: {global_batch: 16}\nparallel: " + parallel +
         "\ncluster: {nodes: 2, node: {preset: dgx-h100}, fabric: {type: rail_optimized, scalable_unit: 2, leaf: "
         "{ports: 16}, spine: {ports: 16}}}\n" +
         more;
}

constexpr std::string_view kRoofline = "compute: {model: roofline}\n";

Outcome outcome_of(const std::string& text, FoldMode fold = FoldMode::kFold, PathWish wish = PathWish::kAlways) {
  auto outcome = simulate(load(text), fold, {.critical_path = wish});
  if (!outcome || !outcome->report) throw std::runtime_error("the run does not end: " + text);
  return std::move(*outcome);
}

void expect_whole(const CriticalPath& path, const std::string& of) {
  Duration kinds, at;
  for (const CriticalPath::Kind& kind : path.kinds) kinds += kind.time;
  EXPECT_EQ(kinds, path.time) << of;
  for (const CriticalPath::Leg& leg : path.legs) {
    EXPECT_EQ(leg.start, at) << of;
    at = leg.end;
  }
  EXPECT_EQ(at, path.time) << of;
}

const std::vector<std::string> kLayouts = {
    "{dp: 16}",
    "{tp: 4, pp: 2, dp: 2}",
    "{pp: 4, dp: 4}",
    "{tp: 2, pp: 4, dp: 2, virtual_stages: 2, schedule: interleaved-1f1b}",
    "{dp: 16, zero: {stage: 3}}",
    "{cp: 4, dp: 4}"};
const std::vector<std::string> kRungs = {"", "collectives: {model: closed_form}\n", "collectives: {model: chunks}\n",
                                         "collectives: {model: coupled}\n"};

// To the picosecond, on every rung, for hosts that are fast and slow, and the same step as without the record.
TEST(CriticalPathOfRun, AddsUpToTheStepTime) {
  for (const std::string& parallel : kLayouts) {
    for (const std::string& rung : kRungs) {
      for (const std::string_view compute : {kRoofline, std::string_view("compute: {host_issue: 40us}\n")}) {
        const std::string text = text_of(parallel, rung + std::string(compute));
        const Outcome outcome = outcome_of(text), plain = outcome_of(text, FoldMode::kFold, PathWish::kNone);
        ASSERT_TRUE(outcome.report->critical_path.has_value()) << text;
        EXPECT_FALSE(plain.report->critical_path.has_value());
        EXPECT_EQ(outcome.report->step_time.mean, plain.report->step_time.mean) << text;
        EXPECT_EQ(outcome.report->critical_path->time, outcome.report->step_time.mean) << text;
        expect_whole(*outcome.report->critical_path, text);
        for (const CriticalPath::Kind& kind : outcome.report->critical_path->kinds) EXPECT_NE(kind.name, "other");
      }
    }
  }
}

// Of several steps the last one.
TEST(CriticalPathOfRun, IsThatOfTheLastStep) {
  const std::string steps = "simulate: {steps: 3, warmup: 0}\n";
  const Outcome outcome = outcome_of(text_of("{tp: 4, pp: 2, dp: 2}", std::string(kRoofline) + steps));
  expect_whole(*outcome.report->critical_path, "three steps");
  EXPECT_LT(outcome.report->critical_path->time, outcome.report->step_time.mean * 2);
}

// One representative of each class has the path of all ranks.
TEST(CriticalPathOfRun, IsTheSameFoldedAndUnfolded) {
  for (const std::string& parallel : kLayouts) {
    const std::string text = text_of(parallel, std::string(kRoofline));
    const CriticalPath folded = *outcome_of(text).report->critical_path,
                       whole = *outcome_of(text, FoldMode::kNoFold).report->critical_path;
    EXPECT_EQ(folded.time, whole.time) << parallel;
    ASSERT_EQ(folded.waits.size(), whole.waits.size()) << parallel;
    for (std::size_t i = 0; i < folded.waits.size(); ++i) {
      EXPECT_EQ(folded.waits[i].total, whole.waits[i].total) << parallel;
    }
  }
}

// GPUs of a host that computes at half the speed bound those of the other one: the path computes on them alone, and the
// others wait for one of them by its number.
TEST(CriticalPathOfRun, GoesThroughTheSlowHost) {
  const std::string slow = "faults: [{node: 1, compute_scale: 0.5}]\n";
  const Outcome outcome = outcome_of(text_of("{dp: 16}", std::string(kRoofline) + slow));
  const CriticalPath& path = *outcome.report->critical_path;
  Duration on_it;
  for (const CriticalPath::Leg& leg : path.legs) {
    EXPECT_TRUE(leg.computing == Duration() || leg.rank >= RankId(8)) << leg.what;
    if (leg.rank >= RankId(8)) on_it += leg.end - leg.start;
  }
  EXPECT_GT(ratio(on_it, path.time), 0.5);
  ASSERT_FALSE(path.waits.empty());
  EXPECT_THAT(wait_text(path.waits.front()), HasSubstr("the last to join"));
  EXPECT_THAT(wait_text(path.waits.front()), HasSubstr("rank "));
}

// Samples that are late end the step after its last task.
TEST(CriticalPathOfRun, CountsTheWaitForData) {
  const std::string data = "data_pipeline: {cpu_per_sample: 50ms, local_workers: 1}\n";
  const CriticalPath path = *outcome_of(text_of("{dp: 16}", std::string(kRoofline) + data)).report->critical_path;
  EXPECT_EQ(path.kinds.front().name, "data");
  expect_whole(path, "data");
}

}  // namespace
}  // namespace ringwright::configs::critical_path_test
