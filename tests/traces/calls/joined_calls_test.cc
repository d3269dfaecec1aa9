#include "traces/calls/joined_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "traces/calls/call_table.h"

namespace ringwright::traces::joined_calls_test {
namespace {

using namespace literals;
using ::testing::HasSubstr;

RecordedCall all_reduce(std::int64_t sequence, Duration time) {
  return {.group = 0,
          .operation = "all_reduce",
          .kernel = "RING_LL",
          .dtype = "Float",
          .bytes = 1_MiB,
          .sequence = sequence,
          .time = time};
}

RankCalls rank(int number, std::vector<RecordedCall> calls) {
  return {.file = "",
          .rank = number,
          .host = "",
          .groups = {{.id = "0", .size = 2, .ranks = {}}},
          .calls = std::move(calls)};
}

TEST(JoinCalls, TheShortestTimeIsTheCallsOwnAndTheRestIsWaiting) {
  const auto joined = join_calls({rank(0, {all_reduce(0, 100_us)}), rank(1, {all_reduce(0, 30_us)})});
  ASSERT_EQ(joined.calls.size(), 1u);
  EXPECT_EQ(joined.calls[0].shortest, 30_us);
  EXPECT_EQ(joined.calls[0].longest, 100_us);
  EXPECT_EQ(joined.calls[0].last_rank, 1);
  EXPECT_EQ(joined.ranks[1].waited_for, 70_us);
}

TEST(JoinCalls, JoinsBySequenceNotByOrder) {
  const auto joined = join_calls(
      {rank(0, {all_reduce(7, 100_us), all_reduce(8, 50_us)}), rank(1, {all_reduce(8, 40_us), all_reduce(9, 10_us)})});
  ASSERT_EQ(joined.calls.size(), 3u);
  EXPECT_EQ(joined.calls[1].recorded, 2);
  EXPECT_EQ(joined.calls[1].shortest, 40_us);
  EXPECT_EQ(joined.alone, 2u);  // numbers 7 and 9
}

TEST(JoinCalls, DoesNotJoinDifferentGroups) {
  auto other = rank(1, {all_reduce(0, 30_us)});
  other.groups[0].id = "1";
  const auto joined = join_calls({rank(0, {all_reduce(0, 100_us)}), other});
  EXPECT_EQ(joined.calls.size(), 2u);
  EXPECT_EQ(joined.alone, 0u);  // no other rank of the files is in these groups
}

TEST(JoinCalls, DoesNotJoinGroupsOfOneNameAndOtherRanks) {
  const auto of_rank = [](int number, std::vector<int> ranks, Duration time) {
    RankCalls calls = rank(number, {all_reduce(0, time)});
    calls.groups[0].ranks = std::move(ranks);
    return calls;
  };
  const auto joined = join_calls(
      {of_rank(0, {0, 1}, 100_us), of_rank(1, {}, 90_us), of_rank(2, {2, 3}, 30_us), of_rank(3, {2, 3}, 40_us)});
  ASSERT_EQ(joined.calls.size(), 2u);
  EXPECT_EQ(joined.calls[0].shortest, 90_us);
  EXPECT_EQ(joined.calls[1].shortest, 30_us);
}

TEST(JoinCalls, CountsRecordsThatContradict) {
  auto larger = all_reduce(0, 30_us);
  larger.bytes = 2_MiB;
  const auto joined = join_calls({rank(0, {all_reduce(0, 100_us)}), rank(1, {larger})});
  EXPECT_EQ(joined.contradicting, 1u);
  EXPECT_EQ(joined.calls[0].recorded, 1);
}

// PyTorch counts messages of a group from 1 as well, on each rank for itself.
TEST(JoinCalls, MessagesAreNeitherJoinedNorMissing) {
  const auto message = [](const char* operation) {
    RecordedCall call = all_reduce(1, 5_us);
    call.operation = operation;
    return call;
  };
  const auto joined =
      join_calls({rank(0, {all_reduce(1, 100_us), message("send")}), rank(1, {message("recv"), all_reduce(1, 30_us)})});
  ASSERT_EQ(joined.calls.size(), 3u);
  EXPECT_EQ(joined.calls[0].operation, "all_reduce");
  EXPECT_EQ(joined.calls[0].recorded, 2);
  EXPECT_EQ(joined.contradicting, 0u);
  EXPECT_EQ(joined.alone, 0u);
}

TEST(JoinCalls, KernelsOfOneNumberAreJoinedInTheirOrder) {
  auto second = all_reduce(1, 8_us);
  second.bytes = 2_MiB;
  const auto joined = join_calls({rank(0, {all_reduce(1, 9_us), second}), rank(1, {all_reduce(1, 7_us), second})});
  ASSERT_EQ(joined.calls.size(), 2u);
  EXPECT_EQ(joined.calls[0].shortest, 7_us);
  EXPECT_EQ(joined.calls[1].bytes, 2_MiB);
  EXPECT_EQ(joined.calls[1].recorded, 2);
  EXPECT_EQ(joined.contradicting, 0u);
}

TEST(JoinCalls, NamesTheRankThatIsLastMostOften) {
  const auto joined = join_calls({rank(0, {all_reduce(0, 9_us), all_reduce(1, 9_us), all_reduce(2, 5_us)}),
                                  rank(1, {all_reduce(0, 5_us), all_reduce(1, 5_us), all_reduce(2, 9_us)})});
  EXPECT_EQ(latest_rank(joined)->rank, 1);
  EXPECT_EQ(latest_rank(joined)->last, 2u);
  EXPECT_THAT(lateness_text(joined), HasSubstr("Rank 1 arrives last most often: in 2 of 3 calls"));
}

TEST(JoinCalls, NobodyIsLastWhereTimesAreEqual) {
  const auto joined = join_calls({rank(0, {all_reduce(0, 5_us)}), rank(1, {all_reduce(0, 5_us)})});
  EXPECT_EQ(joined.calls[0].last_rank, -1);
  EXPECT_FALSE(latest_rank(joined));
}

TEST(CallRows, AreTheCallsOfOneKindAndSize) {
  auto rows = call_rows(join_calls({rank(0, {all_reduce(0, 30_us), all_reduce(1, 10_us), all_reduce(2, 20_us)})}));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].count, 3u);
  EXPECT_EQ(rows[0].shortest, 10_us);
  EXPECT_EQ(rows[0].median, 20_us);
  EXPECT_EQ(rows[0].longest, 30_us);
  // 1048576 B in 20 us; over 2 ranks busbw is algbw.
  EXPECT_NEAR(rows[0].algbw, 52.4288, 1e-9);
  EXPECT_NEAR(rows[0].busbw, 52.4288, 1e-9);
  EXPECT_THAT(call_table_text(rows, 10), HasSubstr("all_reduce  Float  1048576      2  RING_LL      3"));
}

TEST(CallTable, SaysHowManyRowsAreLeftOut) {
  auto other = all_reduce(1, 5_us);
  other.bytes = 2_MiB;
  const auto rows = call_rows(join_calls({rank(0, {all_reduce(0, 30_us), other})}));
  EXPECT_THAT(call_table_text(rows, 1), HasSubstr("and 1 rows of less time"));
}

}  // namespace
}  // namespace ringwright::traces::joined_calls_test
