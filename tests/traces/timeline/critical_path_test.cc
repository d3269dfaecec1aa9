#include "traces/timeline/critical_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "traces/timeline/slice_names.h"

namespace ringwright::traces::critical_path_test {
namespace {

using namespace literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Slice {
  std::uint32_t rank;
  std::string name;
  SliceKind kind;
  Duration start;
  Duration end;
  std::uint64_t flow = 0;
};

// Each rank has a track for kernels and one for communication; the step ends with the last slice.
Timeline timeline_of_slices(std::uint32_t ranks, const std::vector<Slice>& slices) {
  Timeline timeline{.title = "test"};
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    timeline.ranks.push_back({.rank = RankId(rank), .role = "stage " + std::to_string(rank)});
    timeline.tracks.push_back({.rank = rank, .name = "compute"});
    timeline.tracks.push_back({.rank = rank, .name = "stream 1"});
  }
  for (const Slice& slice : slices) {
    timeline.names.push_back(slice.name);
    timeline.slices.push_back({.track = 2 * slice.rank + (slice.kind == SliceKind::kCompute ? 0U : 1U),
                               .name = static_cast<std::uint32_t>(timeline.names.size() - 1),
                               .kind = slice.kind,
                               .start = TimePoint(slice.start),
                               .end = TimePoint(slice.end),
                               .flow = slice.flow});
    timeline.step_end = std::max(timeline.step_end, TimePoint(slice.end));
  }
  return timeline;
}

std::vector<std::string> words_of(const Timeline& timeline, const std::vector<PathPart>& path) {
  std::vector<std::string> words;
  for (const PathPart& part : path) {
    words.push_back(timeline.ranks[part.rank].role + ": " +
                    (part.name == kNoName ? "nothing" : timeline.names[part.name]) + " " +
                    to_string(part.end - part.start));
  }
  return words;
}

// Parts without gaps from the start of the step to its end.
void expect_whole(const Timeline& timeline, const std::vector<PathPart>& path) {
  TimePoint at = timeline.step_start;
  for (const PathPart& part : path) {
    EXPECT_EQ(part.start, at);
    EXPECT_LT(part.start, part.end);
    at = part.end;
  }
  EXPECT_EQ(at, timeline.step_end);
}

// Stage 1 posts its receive at once and waits 12 ms: 10 for stage 0's forward pass, 2 for the message.
Timeline two_stages() {
  return timeline_of_slices(2, {{0, "F0.0 forward", SliceKind::kCompute, 0_ms, 10_ms},
                                {0, "F0.0 pp send", SliceKind::kSend, 10_ms, 12_ms, 1},
                                {1, "F0.0 pp receive", SliceKind::kReceive, 0_ms, 12_ms, 1},
                                {1, "F0.0 forward", SliceKind::kCompute, 12_ms, 20_ms},
                                {1, "B0.0 backward", SliceKind::kCompute, 20_ms, 36_ms}});
}

TEST(CriticalPath, GoesFromAReceiveToItsSender) {
  const Timeline timeline = two_stages();
  const std::vector<PathPart> path = critical_path(timeline);
  expect_whole(timeline, path);
  EXPECT_THAT(words_of(timeline, path), ElementsAre("stage 0: F0.0 forward 10 ms", "stage 1: F0.0 pp receive 2 ms",
                                                    "stage 1: F0.0 forward 8 ms", "stage 1: B0.0 backward 16 ms"));
  EXPECT_EQ(path[1].from, 0U);
}

// The receive is posted at 15 ms, when the data have waited for 5: its own stage bounds it.
TEST(CriticalPath, StaysWhereTheReceiverIsLate) {
  const Timeline timeline = timeline_of_slices(2, {{0, "F0 forward", SliceKind::kCompute, 0_ms, 10_ms},
                                                   {0, "F0 pp send", SliceKind::kSend, 10_ms, 17_ms, 1},
                                                   {1, "optimizer", SliceKind::kCompute, 0_ms, 15_ms},
                                                   {1, "F0 pp receive", SliceKind::kReceive, 15_ms, 17_ms, 1},
                                                   {1, "F0 forward", SliceKind::kCompute, 17_ms, 20_ms}});
  const std::vector<PathPart> path = critical_path(timeline);
  expect_whole(timeline, path);
  EXPECT_THAT(words_of(timeline, path),
              ElementsAre("stage 1: optimizer 15 ms", "stage 1: F0 pp receive 2 ms", "stage 1: F0 forward 3 ms"));
}

// Rank 1 joins the all-reduce at 8 ms; rank 0 waits for it from 3 ms on.
TEST(CriticalPath, GoesToTheMemberThatJoinsACollectiveLast) {
  const Timeline timeline = timeline_of_slices(2, {{0, "backward", SliceKind::kCompute, 0_ms, 3_ms},
                                                   {0, "dp all_reduce", SliceKind::kCollective, 3_ms, 10_ms, 1},
                                                   {0, "optimizer", SliceKind::kCompute, 10_ms, 12_ms},
                                                   {1, "backward", SliceKind::kCompute, 0_ms, 8_ms},
                                                   {1, "dp all_reduce", SliceKind::kCollective, 8_ms, 10_ms, 1},
                                                   {1, "optimizer", SliceKind::kCompute, 10_ms, 11_ms}});
  const std::vector<PathPart> path = critical_path(timeline);
  expect_whole(timeline, path);
  EXPECT_THAT(words_of(timeline, path),
              ElementsAre("stage 1: backward 8 ms", "stage 0: dp all_reduce 2 ms", "stage 0: optimizer 2 ms"));
  EXPECT_EQ(path_kind_text(timeline, path[1]), "DP communication");
}

// 1 ms before the kernel that nothing explains, and 2 at the end, until ranks that are not shown are done.
TEST(CriticalPath, ShowsWhatNothingExplains) {
  Timeline timeline =
      timeline_of_slices(1, {{0, "a", SliceKind::kCompute, 0_ms, 4_ms}, {0, "b", SliceKind::kCompute, 5_ms, 8_ms}});
  timeline.step_end = TimePoint(10_ms);
  const std::vector<PathPart> path = critical_path(timeline);
  expect_whole(timeline, path);
  EXPECT_THAT(words_of(timeline, path),
              ElementsAre("stage 0: a 4 ms", "stage 0: nothing 1 ms", "stage 0: b 3 ms", "stage 0: nothing 2 ms"));
}

// The second step begins at 4 ms, when a kernel of it runs already.
TEST(CriticalPath, BeginsWithTheStep) {
  Timeline timeline =
      timeline_of_slices(1, {{0, "a", SliceKind::kCompute, 0_ms, 3_ms}, {0, "b", SliceKind::kCompute, 3_ms, 8_ms}});
  timeline.step_start = TimePoint(4_ms);
  const std::vector<PathPart> path = critical_path(timeline);
  expect_whole(timeline, path);
  EXPECT_THAT(words_of(timeline, path), ElementsAre("stage 0: b 4 ms"));
}

// Tasks without a duration, and a collective in which all join at its end, do not stop the walk.
TEST(CriticalPath, EndsWithTasksOfNoTime) {
  const Timeline timeline = timeline_of_slices(2, {{0, "a", SliceKind::kCompute, 0_ms, 4_ms},
                                                   {0, "x", SliceKind::kCollective, 4_ms, 4_ms, 1},
                                                   {1, "x", SliceKind::kCollective, 1_ms, 4_ms, 1},
                                                   {1, "b", SliceKind::kCompute, 4_ms, 6_ms}});
  expect_whole(timeline, critical_path(timeline));
  EXPECT_THAT(critical_path(timeline_of_slices(1, {})), IsEmpty());
  EXPECT_THAT(stage_waits(timeline_of_slices(0, {})), IsEmpty());
  EXPECT_EQ(render_critical_path(timeline_of_slices(1, {})), "");
}

TEST(StageWaits, NameTheMessageAndTheStageItComesFrom) {
  const Timeline timeline = two_stages();
  const std::vector<WaitSum> waits = wait_sums(timeline);
  ASSERT_EQ(waits.size(), 2U);
  EXPECT_EQ(wait_text(timeline, waits[0]), "stage 0 waits 26 ms for the end of the step on other ranks");
  EXPECT_EQ(wait_text(timeline, waits[1]), "stage 1 waits 12 ms for the activations of stage 0, microbatch 0");
}

// Both wait for nothing else than the slower one.
TEST(StageWaits, NameTheMemberThatJoinsLast) {
  const Timeline timeline =
      timeline_of_slices(2, {{0, "backward", SliceKind::kCompute, 0_ms, 3_ms},
                             {0, "gradient norm mp all_reduce", SliceKind::kCollective, 3_ms, 10_ms, 1},
                             {0, "optimizer", SliceKind::kCompute, 10_ms, 12_ms},
                             {1, "backward", SliceKind::kCompute, 0_ms, 8_ms},
                             {1, "gradient norm mp all_reduce", SliceKind::kCollective, 8_ms, 10_ms, 1},
                             {1, "optimizer", SliceKind::kCompute, 10_ms, 12_ms}});
  const std::vector<WaitSum> waits = wait_sums(timeline);
  ASSERT_EQ(waits.size(), 2U);
  EXPECT_EQ(wait_text(timeline, waits[0]), "stage 0 waits 7 ms for stage 1, the last to join 'gradient norm'");
  EXPECT_EQ(wait_text(timeline, waits[1]), "stage 1 waits 2 ms for 'gradient norm'");
}

// Of 10 ms without kernels the message takes 9 and the all-gather behind it 1.
TEST(StageWaits, NameWhatTakesMostOfTheTime) {
  const Timeline timeline =
      timeline_of_slices(2, {{0, "F7.2 forward", SliceKind::kCompute, 0_ms, 9_ms},
                             {0, "pp send activation pp send", SliceKind::kSend, 9_ms, 10_ms, 1},
                             {1, "clear gradients", SliceKind::kCompute, 0_ms, 1_ms},
                             {1, "pp receive activation pp receive", SliceKind::kReceive, 0_ms, 10_ms, 1},
                             {1, "F7.2 tp all_gather", SliceKind::kCollective, 10_ms, 11_ms},
                             {1, "F7.2 forward", SliceKind::kCompute, 11_ms, 20_ms}});
  EXPECT_EQ(wait_text(timeline, wait_sums(timeline)[1]),
            "stage 1 waits 10 ms for the activations of stage 0, microbatch 7, model chunk 2");
}

// Three gaps of 1, 2 and 1 ms for the same call: one row of 4 ms.
TEST(StageWaits, ForTheSameThingAreOneRow) {
  std::vector<Slice> slices;
  for (const auto& [start, end] : {std::pair(1_ms, 2_ms), std::pair(3_ms, 5_ms), std::pair(6_ms, 7_ms)}) {
    slices.push_back({0, "gemm", SliceKind::kCompute, start - 1_ms, start});
    slices.push_back({0, "F0 tp all_reduce", SliceKind::kCollective, start, end});
  }
  slices.push_back({0, "optimizer", SliceKind::kCompute, 7_ms, 8_ms});
  const Timeline timeline = timeline_of_slices(1, slices);
  const std::vector<WaitSum> waits = wait_sums(timeline);
  ASSERT_EQ(waits.size(), 1U);
  EXPECT_EQ(wait_text(timeline, waits[0]), "stage 0 waits 4 ms for 'tp all_reduce' (3 times)");
  EXPECT_EQ(waits[0].longest, 2_ms);
  EXPECT_EQ(waits[0].first, TimePoint(1_ms));
}

TEST(CriticalPathText, HasTheShareOfEachKind) {
  const std::string text = render_critical_path(two_stages());
  EXPECT_THAT(text, HasSubstr("Critical path of the step: 36 ms, 4 tasks, from rank to rank once"));
  EXPECT_THAT(text, HasSubstr("computing                         34 ms   94.4 %"));
  EXPECT_THAT(text, HasSubstr("PP communication                   2 ms    5.6 %"));
}

TEST(SliceNames, HoldThePassAndTheDimension) {
  const auto pass = pass_of("B12.1 pp send");
  ASSERT_TRUE(pass.has_value());
  EXPECT_EQ(pass->direction, 'B');
  EXPECT_EQ(pass->microbatch, "12");
  EXPECT_EQ(pass->chunk, "1");
  for (const std::string_view name : {"", "F", "F3", "forward x", "F forward", "dp all_reduce"}) {
    EXPECT_FALSE(pass_of(name).has_value()) << name;
  }
  EXPECT_EQ(call_label("gradient norm mp all_reduce"), "gradient norm");
  EXPECT_EQ(call_label("dp all_reduce"), "dp all_reduce");
  EXPECT_EQ(communication_kind("F3.0 tp all_gather"), "TP communication");
  EXPECT_EQ(communication_kind("embedding all_reduce"), "embedding communication");
  EXPECT_EQ(communication_kind("x"), "communication");
  EXPECT_EQ(communication_kind(" x"), "communication");
}

}  // namespace
}  // namespace ringwright::traces::critical_path_test
