#include "traces/kineto/group_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::traces::group_ranks_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(GroupRanks, ACompleteListIsTaken) {
  EXPECT_THAT(ranks_of_group({.listed = "[0, 8, 16]", .size = 3}).value(), ElementsAre(0, 8, 16));
  EXPECT_THAT(ranks_of_group({.listed = "[]", .size = 0}).value(), IsEmpty());
  EXPECT_THAT(ranks_of_group({.listed = "", .size = 4}).value(), IsEmpty());
}

TEST(GroupRanks, ACutListIsRebuiltFromStartAndStride) {
  EXPECT_THAT(ranks_of_group({.listed = "[1, 3, ..., 9]", .size = 5, .start = 1, .stride = 2}).value(),
              ElementsAre(1, 3, 5, 7, 9));
  // The older form has no last entry.
  EXPECT_THAT(ranks_of_group({.listed = "[1, 3, ...]", .size = 4, .start = 1, .stride = 2}).value(),
              ElementsAre(1, 3, 5, 7));
}

TEST(GroupRanks, AStrideThatContradictsTheListIsNotUsed) {
  EXPECT_FALSE(ranks_of_group({.listed = "[1, 4, ..., 9]", .size = 5, .start = 1, .stride = 2}));
  EXPECT_FALSE(ranks_of_group({.listed = "[1, 3, ..., 8]", .size = 5, .start = 1, .stride = 2}));
  EXPECT_FALSE(ranks_of_group({.listed = "[1, 3, ...]", .size = 5, .start = 1, .stride = -1}));
}

TEST(GroupRanks, ACutListIsCompletedByTheConfiguredGroup) {
  const ProcessGroupConfig config{.name = "5", .description = "", .size = 4, .ranks = {0, 1, 8, 9}};
  EXPECT_THAT(ranks_of_group({.listed = "[0, 1, ..., 9]", .size = 4, .config = &config}).value(),
              ElementsAre(0, 1, 8, 9));
}

TEST(GroupRanks, WhatIsNotListedFollowsFromTheConfiguredGroupOrStartAndStride) {
  const ProcessGroupConfig config{.name = "5", .description = "", .size = 4, .ranks = {0, 1, 8, 9}};
  EXPECT_THAT(ranks_of_group({.listed = "", .size = 4, .config = &config}).value(), ElementsAre(0, 1, 8, 9));
  EXPECT_THAT(ranks_of_group({.listed = "", .size = 2, .config = &config}).value(), IsEmpty());
  EXPECT_THAT(ranks_of_group({.listed = "[]", .size = 3, .start = 1, .stride = 2}).value(), ElementsAre(1, 3, 5));
}

TEST(GroupRanks, NothingCompletesACutList) {
  EXPECT_FALSE(ranks_of_group({.listed = "[0, 1, ..., 9]", .size = 4}));
  EXPECT_FALSE(ranks_of_group({.listed = "[0, x]", .size = 2}));
}

}  // namespace
}  // namespace ringwright::traces::group_ranks_test
