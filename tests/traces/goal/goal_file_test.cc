#include "traces/goal/goal_file.h"

#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/plan/task_graph.h"
#include "tests/support/own_folder.h"
#include "traces/chakra/replay.h"
#include "traces/goal/text_reader.h"

namespace ringwright::traces::goal_file_test {
namespace {

using namespace literals;
using testing::ElementsAre;
using testing::IsEmpty;

GoalSchedule schedule_of(std::string_view text) {
  auto schedule = parse_goal_text("s.goal", text);
  EXPECT_TRUE(schedule) << (schedule ? "" : render(schedule.error()));
  return std::move(*schedule);
}

TaskGraph graph_of(std::string_view text) {
  auto replay = replay_chakra(goal_as_job(schedule_of(text)), {});
  EXPECT_TRUE(replay) << (replay ? "" : render(replay.error()));
  return std::move(replay->graph);
}

std::vector<std::uint32_t> before(const Program& program, std::size_t task) {
  const Task& entry = program.tasks[task];
  const auto first = program.dependencies.begin() + entry.first_dependency;
  return {first, first + entry.dependency_count};
}

TEST(GoalReplay, CalcsTakeNanosecondsOnTheStreamOfTheirCpu) {
  const TaskGraph graph = graph_of("num_ranks 1\nrank 0 { calc 1500 calc 20 cpu 1 calc 3 }");
  const Program& program = graph.programs[0];
  ASSERT_EQ(program.tasks.size(), 3U);
  EXPECT_EQ(graph.works[program.tasks[0].detail].recorded, 1500_ns);
  EXPECT_EQ(program.tasks[0].stream, program.tasks[2].stream);
  EXPECT_NE(program.tasks[0].stream, program.tasks[1].stream);
}

TEST(GoalReplay, MessagesFindTheirPartnersByTag) {
  const TaskGraph graph = graph_of(
      "num_ranks 2\nrank 0 { send 8b to 1 tag 1 send 16b to 1 tag 2 }\n"
      "rank 1 { recv 16b from 0 tag 2 recv 8b from 0 tag 1 }");
  const Program& receiver = graph.programs[graph.program_of[1].index()];
  EXPECT_EQ(graph.messages[receiver.tasks[0].detail].bytes, 16_B);
  EXPECT_EQ(check_task_graph(graph), "");
}

TEST(GoalReplay, AMessageWithoutAPartnerIsAnError) {
  const auto replay = replay_chakra(goal_as_job(schedule_of("num_ranks 2\nrank 0 { send 8b to 1 }")), {});
  ASSERT_FALSE(replay);
  EXPECT_THAT(render(replay.error()), testing::HasSubstr("1 sends and 0 receives have no partner"));
}

TEST(GoalReplay, ACycleIsAnError) {
  const auto replay = replay_chakra(
      goal_as_job(schedule_of("num_ranks 1\nrank 0 { a: calc 1 b: calc 2 a requires b b requires a }")), {});
  ASSERT_FALSE(replay);
  EXPECT_THAT(render(replay.error()), testing::HasSubstr("s.goal, rank 0"));
}

// The send waits for `a`; the calc may begin when the send has, which is when `a` has ended.
TEST(GoalSummary, ShowsACycle) {
  const std::string path = test::own_folder() + "s.goal";
  std::ofstream(path) << "num_ranks 2\nrank 0 { calc 1 }\n"
                         "rank 1 { a: calc 1\n b: calc 2 a requires b b requires a }\n";
  const FileSummary summary = summarise_goal_file(path);
  EXPECT_THAT(render(summary.problems),
              testing::HasSubstr("s.goal: error[E249]: 2 operations wait for each other: "
                                 "rank 1, line 3 (calc) -> rank 1, line 4 (calc) -> rank 1, line 3 (calc)"));
}

// The node of a start is not an operation of its own.
TEST(GoalSummary, ShowsACycleThroughAStart) {
  const Diagnostics cycles = find_goal_cycles(
      schedule_of("num_ranks 1\nrank 0 {\n a: calc 1\n b: calc 2\n a irequires b\n b requires a }"));
  EXPECT_THAT(render(cycles), testing::HasSubstr("2 operations wait for each other: rank 0, line "));
  EXPECT_FALSE(find_goal_cycles(schedule_of("num_ranks 1\nrank 0 { a: calc 1 b: calc 2 a requires b }")).has_errors());
}

TEST(GoalReplay, WhatFollowsAStartWaitsForTheSameOperations) {
  const TaskGraph graph = graph_of(
      "num_ranks 2\nrank 0 { a: calc 5 s: send 8b to 1 c: calc 7 cpu 1 s requires a c irequires s }\n"
      "rank 1 { recv 8b from 0 }");
  const Program& program = graph.programs[graph.program_of[0].index()];
  ASSERT_EQ(program.tasks.size(), 4U);  // a, the start of s, s, c
  EXPECT_THAT(before(program, 0), IsEmpty());
  EXPECT_THAT(before(program, 1), ElementsAre(0U));
  EXPECT_THAT(before(program, 2), ElementsAre(1U));
  EXPECT_THAT(before(program, 3), ElementsAre(1U));
  EXPECT_EQ(program.tasks[2].kind, TaskKind::kSend);
}

TEST(GoalText, IsReadAsItWasWritten) {
  const GoalSchedule schedule = schedule_of(
      "num_ranks 3\nrank 0 { a: calc 5 cpu 2 s: send 8b to 1 tag 4 nic 1 s requires a }\n"
      "rank 1 { r: recv 8b from 0 tag 4 c: calc 7 c irequires r }");
  GoalSchedule again = schedule_of(goal_text(schedule));
  for (std::size_t rank = 0; rank < 3; ++rank) {
    for (std::size_t i = 0; i < again.ranks[rank].operations.size(); ++i) {
      again.ranks[rank].operations[i].line = schedule.ranks[rank].operations[i].line;
    }
  }
  EXPECT_EQ(again.ranks, schedule.ranks);
}

}  // namespace
}  // namespace ringwright::traces::goal_file_test
