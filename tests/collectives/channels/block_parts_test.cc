// Parts of thread blocks from their keys.
#include "collectives/channels/block_parts.h"

#include <gmock/gmock.h>

namespace ringwright::collectives::block_parts_test {
namespace {

TEST(BlockParts, FollowTheKeysAndAmongEqualOnesTheBlocks) {
  std::vector<int> parts;
  parts_by_key(std::vector{5, 1, 5, 0}, parts);
  EXPECT_THAT(parts, testing::ElementsAre(2, 1, 3, 0));
}

TEST(BlockParts, MembersWhoseKeysAreRotatedPlayTheSamePartsOnOtherBlocks) {
  std::vector<int> one;
  std::vector<int> next;
  parts_by_key(std::vector{0, 3, 2, 1}, one);
  parts_by_key(std::vector{1, 0, 3, 2}, next);
  EXPECT_EQ(one[0], next[1]);
  EXPECT_EQ(one[3], next[0]);
}

}  // namespace
}  // namespace ringwright::collectives::block_parts_test
