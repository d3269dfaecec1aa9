#include "traces/goal/text_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::traces::text_reader_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

GoalSchedule read(std::string_view text) {
  auto schedule = parse_goal_text("s.goal", text);
  EXPECT_TRUE(schedule) << (schedule ? "" : render(schedule.error()));
  return schedule ? std::move(*schedule) : GoalSchedule();
}

std::string error(std::string_view text) {
  const auto schedule = parse_goal_text("s.goal", text);
  return schedule ? "no error" : render(schedule.error());
}

TEST(GoalText, HoldsOperationsWithTheirClauses) {
  const GoalSchedule schedule = read(
      "num_ranks 2\n"
      "rank 0 {\n  calc 1500 cpu 1\n  send 1024b to 1 tag 7 cpu 2 nic 3\n}\n"
      "rank 1 {\n  recv 1024b from 0 tag 7\n}\n");
  ASSERT_EQ(schedule.ranks.size(), 2U);
  const GoalOperation send{
      .kind = GoalKind::kSend, .peer = 1, .size = 1024, .tag = 7, .cpu = 2, .nic = 3, .line = 4};
  EXPECT_THAT(schedule.ranks[0].operations,
              ElementsAre(GoalOperation{.kind = GoalKind::kCalc, .size = 1500, .cpu = 1, .line = 3}, send));
  EXPECT_THAT(schedule.ranks[1].operations,
              ElementsAre(GoalOperation{.kind = GoalKind::kReceive, .peer = 0, .size = 1024, .tag = 7, .line = 7}));
}

TEST(GoalText, DependenciesNameLabelsOfTheRankInAnyOrder) {
  const GoalSchedule schedule = read(
      "num_ranks 1\nrank 0 {\n b requires a\n c irequires a\n a: calc 1\n b: calc 2\n c: calc 3\n b requires a\n}\n");
  EXPECT_THAT(schedule.ranks[0].requirements, ElementsAre(GoalDependency{.waits = 1, .before = 0}));
  EXPECT_THAT(schedule.ranks[0].start_requirements, ElementsAre(GoalDependency{.waits = 2, .before = 0}));
}

TEST(GoalText, CommentsAndSpaceDoNotMatter) {
  const GoalSchedule schedule =
      read("/* made\n by hand */ num_ranks 2 // two\nrank 0{l1:send 8b to 1}rank 1{/**/recv 8b from 0}");
  EXPECT_EQ(schedule.ranks[0].operations.size(), 1U);
  EXPECT_EQ(schedule.ranks[1].operations.size(), 1U);
}

TEST(GoalText, RanksWithoutAPartAreIdle) {
  EXPECT_TRUE(read("num_ranks 3\nrank 1 { calc 5 }").ranks[2].operations.empty());
}

TEST(GoalText, MistakesComeWithTheirPlaceAllAtOnce) {
  const std::string text = error(
      "num_ranks 2\n"
      "rank 0 {\n"
      "  l1: send 8 to 1\n"
      "  l1: recv 8b from 2\n"
      "  wait 5\n"
      "  l1 requires l9\n"
      "  recv 8b from -1\n"
      "  send 8b to 1 tag 3 tag 4\n"
      "}\n");
  EXPECT_THAT(text, HasSubstr("s.goal:3:12: error[E390]: the size of a message is '8'; it must be a whole number"));
  EXPECT_THAT(text, HasSubstr("s.goal:4:3: error[E390]: label 'l1' is given twice"));
  EXPECT_THAT(text, HasSubstr("s.goal:4:20: error[E390]: the peer is '2'; it must be a whole number from 0 to 1"));
  EXPECT_THAT(text, HasSubstr("s.goal:5:3: error[E390]: 'wait' is no statement"));
  EXPECT_THAT(text, HasSubstr("s.goal:6:15: error[E390]: no operation has the label 'l9'"));
  EXPECT_THAT(text, HasSubstr("s.goal:7:16: error[E390]: a receive from any rank (-1)"));
  EXPECT_THAT(text, HasSubstr("s.goal:8:22: error[E390]: 'tag' is given twice"));
}

TEST(GoalText, WhatEndsEarlyIsAnError) {
  EXPECT_THAT(error(""), HasSubstr("the file is empty"));
  EXPECT_THAT(error("num_ranks"), HasSubstr("num_ranks is 'the end of the file'"));
  EXPECT_THAT(error("num_ranks 0"), HasSubstr("num_ranks is 0"));
  EXPECT_THAT(error("num_ranks 1 rank 0 { calc 5"), HasSubstr("the file ends within a rank"));
  EXPECT_THAT(error("num_ranks 1 /* rank 0 {"), HasSubstr("the file ends within a comment"));
  EXPECT_THAT(error("num_ranks 1 rank 0 { } rank 0 { }"), HasSubstr("rank 0 is defined twice"));
  EXPECT_THAT(error("num_ranks 4000000000"), HasSubstr("from 0 to 1000000"));
}

TEST(GoalText, IsRecognisedBehindComments) {
  EXPECT_TRUE(looks_like_goal_text("// LogGOPSim\n\nnum_ranks 8\n"));
  EXPECT_FALSE(looks_like_goal_text("num_rankss 8\n"));
  EXPECT_FALSE(looks_like_goal_text(""));
}

}  // namespace
}  // namespace ringwright::traces::text_reader_test
