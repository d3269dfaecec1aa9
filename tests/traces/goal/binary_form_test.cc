#include "traces/goal/binary_form.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "traces/goal/text_reader.h"

namespace ringwright::traces::binary_form_test {
namespace {

using testing::HasSubstr;

constexpr std::string_view kBinaryText =
    "num_ranks 2\n"
    "rank 0 {\n l1: calc 1500 cpu 1\n l2: send 1024b to 1 tag 7 nic 3\n l2 requires l1\n}\n"
    "rank 1 {\n l1: recv 1024b from 0 tag 7\n l2: calc 9\n l3: calc 4\n l2 requires l1\n l3 irequires l2\n}\n";

GoalSchedule written() {
  GoalSchedule schedule = *parse_goal_text("s.goal", kBinaryText);
  for (GoalRank& rank : schedule.ranks) {
    for (GoalOperation& operation : rank.operations) operation.line = 0;  // a binary file has none
  }
  return schedule;
}

std::string with(std::size_t at, char byte) {
  std::string bytes = goal_binary(written());
  bytes[at] = byte;
  return bytes;
}

std::string error(std::string_view bytes) {
  const auto schedule = parse_goal_binary("s.bin", bytes);
  return schedule ? "no error" : render(schedule.error());
}

// By hand: cookie 8, ranks 4, highest ids 2; two table entries of 16, so that parts begin at byte 46. Rank 0: two
// counts, one root, two records of 39, one successor.
TEST(GoalBinary, HasTheLayoutOfTxt2bin) {
  const std::string bytes = goal_binary(written());
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x7F\x10\0\0\0\0\0\0", 8));  // 4223
  EXPECT_EQ(bytes[8], 2);
  EXPECT_EQ(bytes[12], 1);
  EXPECT_EQ(bytes[13], 3);
  EXPECT_EQ(static_cast<unsigned char>(bytes[14]), 46 - 8);
  EXPECT_EQ(static_cast<unsigned char>(bytes[22]), 46 - 8 + 8 + 4 + 2 * 39 + 4);
  EXPECT_EQ(bytes[46], 2);       // operations
  EXPECT_EQ(bytes[50], 1);       // roots
  EXPECT_EQ(bytes[54], 0);       // the calc
  EXPECT_EQ(bytes[58 + 4], 3);   // its kind
  EXPECT_EQ(bytes[58 + 39], 1);  // dependencies of the send
  EXPECT_EQ(bytes.size(), 46U + (8 + 4 + 2 * 39 + 4) + (8 + 4 + 3 * 39 + 2 * 4));
}

TEST(GoalBinary, IsReadAsItWasWritten) {
  const auto schedule = parse_goal_binary("s.bin", goal_binary(written()));
  ASSERT_TRUE(schedule) << render(schedule.error());
  EXPECT_EQ(schedule->ranks, written().ranks);
}

TEST(GoalBinary, DamageIsAnErrorWithItsPlace) {
  EXPECT_THAT(error(with(0, 1)), HasSubstr("it begins with 4097, a binary schedule with 4223"));
  EXPECT_THAT(error(with(58 + 4, 9)), HasSubstr("rank 0 (from byte 46): operation 0 is of kind 9"));
  EXPECT_THAT(error(with(58 + 39 + 5, 2)), HasSubstr("operation 1 has the peer 2 of 2 ranks"));
  EXPECT_THAT(error(with(58, 1)), HasSubstr("operation 0 states 1 dependencies, and 0 operations name it"));
  EXPECT_THAT(error(with(46, 100)), HasSubstr("100 operations and 1 roots do not fit"));
  EXPECT_THAT(error(with(58 + 23, 2)), HasSubstr("has successors 0 to 2 of 1"));
  std::string shared = with(58 + 39 + 23, 1);
  shared[58 + 39 + 27] = 0;
  EXPECT_THAT(error(shared), HasSubstr("operation 1 shares its list of successors"));
  EXPECT_THAT(error(with(11, 1)), HasSubstr("the table of 16777218 ranks does not fit"));
  EXPECT_THAT(error("\x26\x09\0\0\0\0\0\0\0\0\0\0\0\0\0"), HasSubstr("within its header"));
}

TEST(GoalBinary, EveryTruncationIsAnError) {
  const std::string bytes = goal_binary(written());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(parse_goal_binary("s.bin", std::string_view(bytes).substr(0, size))) << size;
  }
}

}  // namespace
}  // namespace ringwright::traces::binary_form_test
