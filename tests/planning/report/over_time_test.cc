#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/planning/report/sample_results.h"

namespace ringwright::planning::over_time_test {
namespace {

using namespace literals;
using namespace samples;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using traces::SliceKind;
using traces::Timeline;

constexpr std::string_view kTwoStages = R"({
  "schema": "ringwright.result/1", "scenario": "s", "metrics": {"step_time_s": {"mean": 0.04}}, "job": {"gpus": 2},
  "breakdown": [], "memory": [
    {"stage": 0, "items_bytes": {"weights": 1073741824, "layer activations": 2147483648}, "total_bytes": 3221225472,
     "capacity_bytes": 4294967296},
    {"stage": 1, "items_bytes": {"weights": 1073741824, "layer activations": 1073741824}, "total_bytes": 2147483648,
     "capacity_bytes": 4294967296}]})";

// Stage 0 has two microbatches in flight from 5 to 20 ms, stage 1 one at a time.
Timeline two_stages() {
  struct Pass {
    std::uint32_t track;
    std::string name;
    Duration start;
    Duration end;
  };
  const std::vector<Pass> passes = {{0, "F0.0 forward", 0_ms, 5_ms},    {0, "F1.0 forward", 5_ms, 10_ms},
                                    {0, "B0.0 backward", 15_ms, 20_ms}, {0, "B1.0 backward", 30_ms, 40_ms},
                                    {1, "F0.0 forward", 5_ms, 10_ms},   {1, "B0.0 backward", 10_ms, 15_ms},
                                    {1, "F1.0 forward", 15_ms, 20_ms},  {1, "B1.0 backward", 20_ms, 30_ms}};
  Timeline timeline{.title = "t"};
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    timeline.ranks.push_back({.rank = RankId(rank), .role = "stage " + std::to_string(rank)});
    timeline.tracks.push_back({.rank = rank, .name = "compute"});
  }
  for (const Pass& pass : passes) {
    timeline.names.push_back(pass.name);
    timeline.slices.push_back({.track = pass.track,
                               .name = static_cast<std::uint32_t>(timeline.names.size() - 1),
                               .kind = SliceKind::kCompute,
                               .start = TimePoint(pass.start),
                               .end = TimePoint(pass.end)});
  }
  timeline.step_end = TimePoint(40_ms);
  return timeline;
}

// 1 GiB of weights, and 1 GiB for each microbatch in flight; each change has the memory before and after it.
TEST(MemoryOverTime, GrowsWithTheMicrobatchesInFlight) {
  const Timeline timeline = two_stages();
  const Panel panel = panel_of(section_from(kTwoStages, &timeline), "memory-over-time");
  std::vector<double> times, sizes;
  for (std::size_t row = 0; row < texts_of(panel, 0).size(); ++row) {
    if (texts_of(panel, 0)[row] != "stage 0") continue;
    times.push_back(numbers_of(panel, 1)[row]);
    sizes.push_back(numbers_of(panel, 2)[row]);
  }
  EXPECT_EQ(panel.columns[1].unit, "ms");
  EXPECT_THAT(times,
              ElementsAre(0, 0, 0, DoubleNear(5, 1e-9), DoubleNear(5, 1e-9), DoubleNear(20, 1e-9), DoubleNear(20, 1e-9),
                          DoubleNear(40, 1e-9), DoubleNear(40, 1e-9), DoubleNear(40, 1e-9)));
  EXPECT_THAT(sizes, ElementsAre(1, 1, 2, 2, 3, 3, 2, 2, 1, 1));
  ASSERT_EQ(panel.marks.size(), 1U);
  EXPECT_DOUBLE_EQ(panel.marks[0].value, 4.0);
}

TEST(OverTime, SaysHowToRecordIt) {
  const Panel panel = panel_of(section_from(kTwoStages), "over-time");
  EXPECT_TRUE(panel.columns.empty());
  EXPECT_THAT(panel.note, HasSubstr("--html FILE"));
}

TEST(LinkUse, HasACellForEachIntervalOfEachTier) {
  Timeline timeline = two_stages();
  timeline.links =
      traces::LinkCurves{.interval = 20_ms,
                         .tiers = {{.name = "GPU - NVSwitch", .links = 16, .mean = {0.1, 0.5}, .highest = {0.2, 0.6}}},
                         .links = {{.name = "gpu0->nvswitch0", .links = 8, .mean = {0.2, 0.6}, .highest = {}}}};
  const ReportSection section = section_from(kTwoStages, &timeline);
  const Panel tiers = panel_of(section, "tier-use"), links = panel_of(section, "link-use");
  EXPECT_THAT(numbers_of(tiers, 1), ElementsAre(0, DoubleNear(20, 1e-9)));
  EXPECT_THAT(numbers_of(tiers, 3), ElementsAre(DoubleNear(10, 1e-9), DoubleNear(50, 1e-9)));
  EXPECT_THAT(numbers_of(tiers, 4), ElementsAre(DoubleNear(20, 1e-9), DoubleNear(60, 1e-9)));
  EXPECT_EQ(links.columns.size(), 5U);
  EXPECT_THAT(numbers_of(links, 4), ElementsAre(8, 8));
}

// 40 ms, of which 30 computing; the second leg is on the other stage.
TEST(CriticalPathPanels, AddUpToTheStep) {
  const ReportSection section = section_from(R"({
    "schema": "ringwright.result/1", "scenario": "s", "metrics": {"step_time_s": {"mean": 0.04}}, "job": {"gpus": 2},
    "breakdown": [], "critical_path": {"time_ps": 40000000000, "tasks": 3, "rank_changes": 1,
      "kinds": [{"kind": "computing", "time_ps": 30000000000, "tasks": 2},
                {"kind": "PP communication", "time_ps": 10000000000, "tasks": 1}],
      "waits": [{"role": "stage 1", "cause": "x", "words": "stage 1 waits 10 ms for x", "total_s": 0.01,
                 "longest_s": 0.01, "count": 1, "first_s": 0.0}],
      "legs": [{"rank": 0, "role": "stage 0", "what": "F0.0", "start_ps": 0, "end_ps": 20000000000,
                "computing_ps": 20000000000, "communication_ps": 0, "tasks": 1},
               {"rank": 1, "role": "stage 1", "what": "PP", "start_ps": 20000000000, "end_ps": 40000000000,
                "computing_ps": 10000000000, "communication_ps": 10000000000, "tasks": 2}],
      "legs_left_out": 7}})");
  EXPECT_THAT(numbers_of(panel_of(section, "critical-path"), 1), ElementsAre(30, 10));
  const Panel legs = panel_of(section, "critical-path-tasks");
  EXPECT_THAT(numbers_of(legs, 5), ElementsAre(20, 20));
  EXPECT_THAT(legs.note, HasSubstr("7 more"));
  EXPECT_THAT(texts_of(panel_of(section, "waits"), 0), ElementsAre("stage 1 waits 10 ms for x"));
}

}  // namespace
}  // namespace ringwright::planning::over_time_test
