#include "core/plan/task_graph.h"

#include <gtest/gtest.h>

#include "tests/support/job_builder.h"

namespace ringwright::task_graph_test {
namespace {

using namespace ringwright::literals;
using test::add_dimension;
using test::ProgramBuilder;

TaskGraph two_ranks() {
  TaskGraph graph;
  const DimensionId pp = add_dimension(graph, "pp", {{0, 1}});
  ProgramBuilder program(graph, "all");
  const auto first = program.compute(1_us);
  program.send(pp, {.peer = 1, .bytes = 8_B}, 1, {first});
  program.run_on({0, 1});
  test::place_ranks(graph, 2);
  return graph;
}

TEST(TaskGraph, ASoundGraphHasNothingToComplainAbout) { EXPECT_EQ(check_task_graph(two_ranks()), ""); }

TEST(TaskGraph, ADependencyMustComeBefore) {
  TaskGraph graph = two_ranks();
  graph.programs[0].dependencies[0] = 1;
  EXPECT_EQ(check_task_graph(graph), "program 'all', task 1: depends on a task that does not come before it");
}

TEST(TaskGraph, DetailsLabelsAndStreamsMustExist) {
  TaskGraph detail = two_ranks();
  detail.programs[0].tasks[0].detail = 9;
  EXPECT_EQ(check_task_graph(detail), "program 'all', task 0: its detail is out of range");
  TaskGraph label = two_ranks();
  label.programs[0].tasks[0].label = 9;
  EXPECT_EQ(check_task_graph(label), "program 'all', task 0: its label is out of range");
  TaskGraph stream = two_ranks();
  stream.programs[0].tasks[1].stream = 7;
  EXPECT_EQ(check_task_graph(stream), "program 'all', task 1: its stream is out of range");
  TaskGraph dependencies = two_ranks();
  dependencies.programs[0].tasks[1].dependency_count = 5;
  EXPECT_EQ(check_task_graph(dependencies), "program 'all', task 1: its dependencies are out of range");
}

TEST(TaskGraph, PeersChannelsAndDimensionsMustExist) {
  TaskGraph peer = two_ranks();
  peer.messages[0].peer = 2;
  EXPECT_EQ(check_task_graph(peer), "rank 0 names peer 2 in a group of 2 ('pp')");
  TaskGraph channel = two_ranks();
  channel.messages[0].channel = kChannels;
  EXPECT_EQ(check_task_graph(channel), "program 'all', task 1: its channel is out of range");
  TaskGraph dimension = two_ranks();
  dimension.programs[0].tasks[1].dimension = DimensionId(3);
  EXPECT_EQ(check_task_graph(dimension), "program 'all', task 1: names no dimension");
}

TEST(TaskGraph, EveryRankIsInOneGroupOfEveryDimension) {
  TaskGraph graph = two_ranks();
  graph.dimensions[0].index_in_group[1] = 0;
  EXPECT_EQ(check_task_graph(graph), "dimension 'pp': rank 1 is not at the index that its group gives");
  graph.dimensions[0].index_in_group.pop_back();
  EXPECT_EQ(check_task_graph(graph), "dimension 'pp' does not cover all 2 ranks");
}

TEST(TaskGraph, EveryRankHasAProgram) {
  TaskGraph graph = two_ranks();
  graph.program_of[1] = ProgramId(4);
  EXPECT_EQ(check_task_graph(graph), "rank 1 has no program");
}

TEST(TaskGraph, GroupsOfOneShapeShareALayout) {
  TaskGraph graph;
  // 16 ranks on hosts of 4: pairs inside a host, and pairs across hosts.
  std::vector<std::vector<int>> near;
  std::vector<std::vector<int>> far;
  for (int rank = 0; rank < 16; rank += 2) near.push_back({rank, rank + 1});
  for (int rank = 0; rank < 8; ++rank) far.push_back({rank, rank + 8});
  add_dimension(graph, "near", near);
  add_dimension(graph, "far", far);
  graph.program_of.assign(16, ProgramId(0));
  test::place_ranks(graph, 4);
  // Near pairs are on GPUs 0-1 or 2-3; far pairs on equal GPUs 0, 1, 2 or 3 of two hosts.
  EXPECT_EQ(graph.layouts.size(), 6U);
  const GroupLayout& layout = graph.layouts[graph.dimensions[1].layout_of_group[0]];
  EXPECT_EQ(layout.host_of, (std::vector{0, 1}));
  EXPECT_EQ(layout.host_count(), 2);
  EXPECT_TRUE(layout.even());
}

TEST(GroupLayout, CountsPositionsHostByHost) {
  const GroupLayout layout = make_group_layout({7, 7, 3, 7}, {0, 1, 0, 2});
  EXPECT_EQ(layout.host_of, (std::vector{0, 0, 1, 0}));
  EXPECT_EQ(layout.place_in_host, (std::vector{0, 1, 0, 2}));
  EXPECT_EQ(layout.hosts, (std::vector<std::vector<int>>{{0, 1, 3}, {2}}));
  EXPECT_FALSE(layout.even());
}

TEST(TaskGraph, GroupsOfOneShapeShareALayoutOnAnyHosts) {
  TaskGraph graph;
  add_dimension(graph, "dp", {{0, 2}, {1, 3}, {4, 6}, {5, 7}});
  add_dimension(graph, "tp", {{0, 1}, {2, 3}, {4, 5}, {7, 6}});
  graph.program_of.resize(8);
  test::place_ranks(graph, 2);
  // Four hosts of two GPUs. Of dp: both GPUs 0 of two hosts, or both GPUs 1; of tp: a host's GPUs in order, or swapped.
  EXPECT_EQ(graph.dimensions[0].layout_of_group, (std::vector<std::uint32_t>{0, 1, 0, 1}));
  EXPECT_EQ(graph.dimensions[1].layout_of_group, (std::vector<std::uint32_t>{2, 2, 2, 3}));
  EXPECT_EQ(graph.layouts.size(), 4U);
}

// Four hosts of two GPUs and two NICs; host 1 has lost NIC 1, host 2 both.
TEST(TaskGraph, LayoutsNameTheHostsThatLostNics) {
  TaskGraph graph;
  add_dimension(graph, "dp", {{0, 2}, {2, 4, 6}, {0, 6}, {1, 3}, {5, 7}});
  graph.program_of.resize(8);
  std::vector<RankPosition> places;
  for (int rank = 0; rank < 8; ++rank) {
    const int host = rank / 2;
    const int lost = host == 1 ? 0b10 : host == 2 ? 0b11 : 0;
    places.push_back({.host = host, .gpu = rank % 2, .nics = lost > 0 ? 2 : 0, .nics_lost = lost});
  }
  lay_out_groups(graph, places);
  const auto lost = [&](std::size_t group) {
    return graph.layouts[graph.dimensions[0].layout_of_group[group]].lost_nics;
  };
  using Losses = std::vector<LostNics>;
  EXPECT_EQ(lost(0), (Losses{{.host = 1, .lost = 0b10, .of = 2}}));
  EXPECT_EQ(lost(1), (Losses{{.host = 0, .lost = 0b10, .of = 2}, {.host = 1, .lost = 0b11, .of = 2}}));
  EXPECT_EQ(lost(2), Losses{});
  EXPECT_EQ(lost(3), (Losses{{.host = 1, .lost = 0b10, .of = 2}}));
  EXPECT_EQ(lost(4), (Losses{{.host = 0, .lost = 0b11, .of = 2}}));
}

}  // namespace
}  // namespace ringwright::task_graph_test
